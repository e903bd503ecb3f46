#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Measures the server beside nginx, which answers the same NCCO from its configuration, and prints each figure beside its target.
#
# The serving process has one processor (the first this process may use), the load generator another, and nothing leaves 127.0.0.1. Each
# measurement is many short runs that alternate between the two servers, so that what else the machine does meets both; a ratio is the
# median of the ratios of neighbouring runs, every other figure a median. Requests for each second of processor time (user and system, all
# threads, also ended ones) hardly waver on a busy machine; requests for each second do. All servers are stopped at the end, whatever
# happens.
#
# Targets are printed and, with --check, asserted: a shared machine must not fail a build. TLS is measured by tls.py with what is here. Left
# out: bodies above some hundred bytes, more than one worker: both servers scale by independent event loops, so one is what can be compared.

import argparse
import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "/voice/answer?to=447700900123&from_user=Alice"
NCCO = (
    '[{"action":"talk","text":"Please wait while we connect you."},'
    '{"action":"connect","from":"14155550100","endpoint":[{"type":"phone","number":"447700900123"}]}]'
)
CONNECTIONS = 64
# Linux gives the times of a process in these.
TICK = 1 / os.sysconf("SC_CLK_TCK")

# `wrk` calls `done` at the end; its own table rounds latencies to two digits.
REPORT = """
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\\nRESULT {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failed":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""

# No two bodies are equal: the server looks for repeats.
EVENTS = """
local count, run = 0, os.time() % 1000000
function request()
  count = count + 1
  local body = string.format('{"from":"14155550100","to":"447700900123","uuid":"%08d-%08d","conversation_uuid":"CON-%08d",' ..
    '"status":"ringing","direction":"outbound","timestamp":"2026-11-30T10:00:00.%03dZ"}', run, count, count, count % 1000)
  return wrk.format("POST", "/voice/event", {["Content-Type"] = "application/json"}, body)
end
""" + REPORT

# A caller who presses 1 in the menu of the shipped flows.
INPUT = """
local count, run = 0, os.time() % 1000000
function request()
  count = count + 1
  local body = string.format('{"dtmf":{"digits":"1","timed_out":false},"from":"447700900123","to":"14155550100",' ..
    '"uuid":"%08d-%08d","conversation_uuid":"CON-%08d","timestamp":"2026-11-30T10:00:00.%03dZ"}', run, count, count, count % 1000)
  return wrk.format("POST", "/voice/choice", {["Content-Type"] = "application/json"}, body)
end
""" + REPORT


class Failure(Exception):
    pass


def webhook_token(secret, payload):
    """A token as Vonage's webhooks have it, issued now."""
    def encoded(raw):
        return base64.urlsafe_b64encode(raw).rstrip(b"=")

    claims = {
        "iat": int(time.time()), "jti": "7c0b1f0e-2a56-4a5d-8f2c-1f6f0f0c9d11", "iss": "Vonage",
        "payload_hash": hashlib.sha256(payload).hexdigest(), "api_key": "abcd1234",
        "application_id": "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee",
    }
    text = b".".join(encoded(json.dumps(part, separators=(",", ":")).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return (text + b"." + encoded(hmac.new(secret.encode(), text, hashlib.sha256).digest())).decode()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def median(values):
    return statistics.median(values)


class Server:
    """A started server; `pid` is the process that serves."""

    name = "?"
    scheme = "http"

    def __init__(self, folder, cpu):
        self.folder, self.cpu, self.port = folder, cpu, free_port()
        self.process = None

    def start(self, wait=True):
        output = open(self.folder / f"{self.name}-{self.port}.log", "ab")
        command = ["taskset", "-c", str(self.cpu), *self.command()]
        self.began = time.perf_counter()
        # Of the environment only what is needed: a setting in it would change what is measured.
        self.process = subprocess.Popen(
            command, stdout=output, stderr=output, env={"PATH": os.environ["PATH"]}, start_new_session=True,
            # Where there is no folder nccos, so that the built-in flow serves unless a flag names one.
            cwd=self.folder)
        output.close()
        if wait:
            self.first_answer()
        return self

    def first_answer(self, limit=10):
        """Seconds from exec to the first 200."""
        ask = f"GET {TARGET} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        while time.perf_counter() - self.began < limit:
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended with code {self.process.returncode}; see {self.folder}")
            with contextlib.suppress(OSError), self.connect(5) as connection:
                connection.sendall(ask)
                if connection.recv(65536).startswith(b"HTTP/1.1 200"):
                    return time.perf_counter() - self.began
            time.sleep(0.0005)
        raise Failure(f"{self.name} gave no answer within {limit} s; see {self.folder}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def processor_time(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def resident(self):
        """Bytes."""
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())[1]) * 1024

    def url(self, target=TARGET):
        return f"{self.scheme}://127.0.0.1:{self.port}{target}"

    def connect(self, timeout=10):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def get(self, target, fields={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.sock = self.connect()
        try:
            connection.request("GET", target, headers=fields)
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), response.read().decode()
        finally:
            connection.close()


class Ours(Server):
    name = "switchboard"

    def __init__(self, folder, cpu, binary, *flags):
        super().__init__(folder, cpu)
        self.binary, self.flags = binary, flags
        self.events = Path(tempfile.mkdtemp(prefix="events-", dir=folder))

    def command(self):
        return [
            self.binary, "serve", "--workers", "1", "--host", "127.0.0.1", "--port", str(self.port), "--number", "14155550100",
            "--events", str(self.events), *self.flags,
        ]

    def metric(self, name):
        token = (self.events / "admin-token").read_text().strip()
        _, _, text = self.get("/metrics", {"Authorization": f"Bearer {token}"})
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])

    def forget(self):
        """Removes the log of a stopped server: some runs write gigabytes."""
        shutil.rmtree(self.events, ignore_errors=True)


class Nginx(Server):
    name = "nginx"
    # Ours sends two fields that nginx does not, and who measures latency reads them too: with --same-fields both send them.
    fields = ""
    # What makes `listen` another listener than that of plain HTTP, and the directives that go with it.
    listen, directives = "", ""

    def command(self):
        ncco = NCCO.replace("447700900123", "$arg_to")
        configuration = f"""
            daemon off; worker_processes 1; user root; pid {self.folder}/nginx-{self.port}.pid;
            error_log {self.folder}/nginx-{self.port}.error; worker_rlimit_nofile {resource.getrlimit(resource.RLIMIT_NOFILE)[0]};
            events {{ worker_connections 16384; }}
            http {{
                access_log off; default_type application/json;
                keepalive_timeout 75s; keepalive_requests 1000000000; tcp_nodelay on;
                client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy; fastcgi_temp_path {self.folder}/fastcgi;
                uwsgi_temp_path {self.folder}/uwsgi; scgi_temp_path {self.folder}/scgi;
                server {{
                    listen 127.0.0.1:{self.port} reuseport backlog=4096 {self.listen};
                    {self.directives}
                    location = /voice/answer {{ {self.fields} return 200 '{ncco}'; }}
                }}
            }}
        """
        path = self.folder / f"nginx-{self.port}.conf"
        path.write_text(configuration)
        return [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", str(path), "-e", "stderr"]

    @property
    def pid(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])


class Bench:
    def __init__(self, options, folder, binary, cpus, stack):
        self.options, self.folder, self.binary, self.stack = options, folder, binary, stack
        self.cpu, self.load_cpu = cpus
        self.rows, self.missed = [], 0
        for name, text in (("report.lua", REPORT), ("events.lua", EVENTS)):
            (folder / name).write_text(text)

    def ours(self, *flags):
        server = Ours(self.folder, self.cpu, self.binary, *flags)
        self.stack.callback(server.stop)
        return server

    def nginx(self):
        server = Nginx(self.folder, self.cpu)
        self.stack.callback(server.stop)
        return server

    def row(self, what, ours, nginx="", ratio="", target="", met=None):
        self.missed += met is False
        verdict = "" if met is None else "met" if met else "MISSED"
        self.rows.append((what, ours, nginx, ratio, target, verdict))
        print(f"  {what:<58}{ours:>14}{nginx:>14}{ratio:>9}  {target:<12}{verdict}", flush=True)

    def heading(self, text):
        print(f"\n{text}\n  {'':<58}{'switchboard':>14}{'nginx':>14}{'ratio':>9}  target", flush=True)

    # One run of a load generator

    def wrk(self, server, seconds, script="report.lua", connections=CONNECTIONS, fields=(), target=TARGET):
        command = ["taskset", "-c", str(self.load_cpu), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(self.folder / script)]
        for field in fields:
            command += ["-H", field]
        before = server.processor_time()
        run = subprocess.run([*command, server.url(target)], capture_output=True, text=True, timeout=seconds + 60)
        spent = server.processor_time() - before
        result = re.search(r"^RESULT (.*)$", run.stdout, re.M)
        if not result:
            raise Failure(f"wrk failed: {run.stdout}{run.stderr}")
        result = json.loads(result[1])
        # At its end wrk drops the connections it has; a few of them count as failed reads.
        if result["failed"] > max(CONNECTIONS, result["requests"] // 1000):
            raise Failure(f"{server.name}: {result['failed']} of {result['requests']} requests failed")
        result["rate"] = result["requests"] / (result["micros"] / 1e6)
        result["per_cpu"] = result["requests"] / max(spent, TICK)
        return result

    def alternate(self, servers, measure):
        """Runs `measure` on each server in turn, in changing order; a list of results for each."""
        results = [[] for _ in servers]
        for server in servers:
            measure(server)
        for number in range(self.options.runs):
            order = range(len(servers)) if number % 2 == 0 else reversed(range(len(servers)))
            for index in order:
                results[index].append(measure(servers[index]))
        return results

    def compare(self, what, ours, nginx, form, target=None, better=None):
        """`target` is the smallest good ratio, or with `better="lower"` the largest."""
        ratio = median(a / b for a, b in zip(ours, nginx) if b)
        met = None if target is None else ratio <= target if better == "lower" else ratio >= target
        text = "" if target is None else f"{'<=' if better == 'lower' else '>='} {target:g}x"
        self.row(what, form(median(ours)), form(median(nginx)), f"{ratio:.2f}x", text, met)

    def answers(self, title, flags, target, fields=()):
        self.heading(title)
        servers = [self.ours(*flags).start(), self.nginx().start()]
        seconds = self.options.seconds
        ours, nginx = self.alternate(servers, lambda server: self.wrk(server, seconds, fields=fields))

        def values(key):
            return [r[key] for r in ours], [r[key] for r in nginx]

        self.compare("requests for each second of processor time", *values("per_cpu"), lambda v: f"{v:,.0f}", target)
        self.compare("requests a second", *values("rate"), lambda v: f"{v:,.0f}")
        self.compare("p50, us", *values("p50"), lambda v: f"{v:,.0f}")
        self.compare("p99, us", *values("p99"), lambda v: f"{v:,.0f}")
        self.row("resident memory under load, MiB", *(f"{s.resident() / 2**20:.1f}" for s in servers))
        if "all" in flags:
            self.row("records of answers dropped", f"{servers[0].metric('switchboard_log_records_dropped_total'):.0f}")
        self.end(servers)

    def end(self, servers):
        for server in servers:
            server.stop()
            if isinstance(server, Ours):
                server.forget()

    # Scenarios

    def keep_alive(self):
        self.answers(f"Answers, keep-alive, {CONNECTIONS} connections, --log-answers none", ["--log-answers", "none"], 1.0)

    def logged(self):
        self.answers(f"Answers, keep-alive, {CONNECTIONS} connections, --log-answers all", ["--log-answers", "all"], 0.8)

    def close(self):
        self.answers(
            f"Answers, a connection for each, {CONNECTIONS} at once, --log-answers none (aim 0.95x)", ["--log-answers", "none"], 0.85,
            ["Connection: close"])

    def offered(self):
        servers = [self.ours("--log-answers", "none").start(), self.nginx().start()]
        capacity = [median(r["rate"] for r in results) for results in self.alternate(servers, lambda server: self.wrk(server, 1))]
        each = max(int(min(capacity) * 0.6 / CONNECTIONS), 1)
        self.heading(f"Answers at the same offered load: {each * CONNECTIONS:,} a second, 60 % of what the slower one can")
        log, seconds = self.folder / "h2load.tsv", self.options.seconds + 1

        def measure(server):
            command = [
                "taskset", "-c", str(self.load_cpu), "h2load", "--h1", f"-c{CONNECTIONS}", "-t1", f"-D{seconds}", f"--rps={each}",
                f"--log-file={log}", server.url(),
            ]
            log.unlink(missing_ok=True)
            before = server.processor_time()
            subprocess.run(command, check=True, capture_output=True, timeout=seconds + 60)
            spent = server.processor_time() - before
            rows = [tuple(map(int, line.split("\t")[:3])) for line in log.read_text().splitlines()]
            # The first second is that of the connections.
            start = rows[0][0] + 1_000_000
            if not all(status == 200 for _, status, _ in rows):
                raise Failure(f"{server.name}: not every answer was 200")
            times = sorted(micros for begin, _, micros in rows if begin >= start)
            span = (max(r[0] for r in rows) - start) / 1e6
            return {
                "p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100], "p999": times[len(times) * 999 // 1000],
                "rate": len(times) / span, "per_cpu": len(rows) / max(spent, TICK),
            }

        ours, nginx = self.alternate(servers, measure)
        self.compare("answers a second", [r["rate"] for r in ours], [r["rate"] for r in nginx], lambda v: f"{v:,.0f}")
        for key, name, target in (("p50", "p50, us", None), ("p99", "p99, us", 1.0), ("p999", "p99.9, us", None)):
            self.compare(name, [r[key] for r in ours], [r[key] for r in nginx], lambda v: f"{v:,.0f}", target, "lower")
        self.compare("requests for each second of processor time", [r["per_cpu"] for r in ours], [r["per_cpu"] for r in nginx],
                     lambda v: f"{v:,.0f}")
        self.end(servers)

    def events(self):
        print(f"\nEvents, {CONNECTIONS} connections, each waits for its answer")
        print(f"  {'':<58}{'always':>14}{'none':>14}{'ratio':>9}  target", flush=True)
        servers = [self.ours("--sync", policy).start() for policy in ("always", "none")]
        shares = []

        def measure(server):
            names = ("switchboard_events_total", "switchboard_log_syncs_total")
            before = [server.metric(name) for name in names]
            result = self.wrk(server, self.options.seconds, "events.lua", target="/voice/event")
            events, syncs = (server.metric(name) - was for name, was in zip(names, before))
            if events < result["requests"]:
                raise Failure(f"{result['requests']} events were answered, {events:.0f} kept")
            if server is servers[0]:
                shares.append(events / max(syncs, 1))
            return result

        always, none = self.alternate(servers, measure)
        share = median(shares[1:])
        self.row("events for each fdatasync", f"{share:.1f}", target=">= 8", met=share >= 8)
        self.compare("events a second", [r["rate"] for r in always], [r["rate"] for r in none], lambda v: f"{v:,.0f}", 0.5)
        self.compare("events for each second of processor time", [r["per_cpu"] for r in always], [r["per_cpu"] for r in none],
                     lambda v: f"{v:,.0f}")
        for key in ("p50", "p99"):
            self.compare(f"{key}, us", [r[key] for r in always], [r[key] for r in none], lambda v: f"{v:,.0f}")
        single = self.alternate(servers, lambda server: self.wrk(server, 1, "events.lua", connections=1, target="/voice/event"))
        self.compare("one client: p50, us", *([r["p50"] for r in results] for results in single), lambda v: f"{v:,.0f}")
        self.end(servers)

    def flows(self):
        """Templates of a folder beside the built-in flow, and beside another binary's where --baseline names one."""
        names = ["--log-answers", "none"]
        servers = [self.ours(*names, "--nccos", str(ROOT / "nccos")), self.ours(*names)]
        if self.options.baseline:
            servers.append(Ours(self.folder, self.cpu, os.path.abspath(self.options.baseline), *names))
            self.stack.callback(servers[2].stop)
        for server in servers:
            server.start()
        print(f"\nAnswers from the templates of nccos/, keep-alive, {CONNECTIONS} connections, --log-answers none")
        print(f"  {'':<58}{'templates':>14}{'built-in':>14}{'ratio':>9}  target", flush=True)
        results = self.alternate(servers, lambda server: self.wrk(server, self.options.seconds))
        for number, name in enumerate(["the built-in flow", "the built-in flow of --baseline"][: len(servers) - 1], 1):
            self.compare(f"requests for each second of processor time, {name}", [r["per_cpu"] for r in results[0]],
                         [r["per_cpu"] for r in results[number]], lambda v: f"{v:,.0f}", 0.9)
            self.compare("requests a second", [r["rate"] for r in results[0]], [r["rate"] for r in results[number]],
                         lambda v: f"{v:,.0f}")
        (self.folder / "input.lua").write_text(INPUT)
        press = self.wrk(servers[0], self.options.seconds, "input.lua", target="/voice/choice")
        self.row("input events answered by an NCCO, a second", f"{press['rate']:,.0f}")
        self.row("their p99, us", f"{press['p99']:,.0f}")
        self.end(servers)

    def signed(self):
        """What the check of a signed webhook costs: the same requests to a server with and to one without a secret."""
        secret, query = "a-signature-secret-of-the-benchmarks", TARGET.partition("?")[2]
        body = json.dumps({
            "from": "14155550100", "to": "447700900123", "from_user": "Alice", "uuid": "3f1b6a52-c1b9-4d6e-8c0a-7d5e9b2f4a10",
            "conversation_uuid": "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51", "region_url": "https://api-us-3.vonage.com",
            "custom_data": '{"note":"caf\u00e9"}'}, ensure_ascii=False, separators=(",", ":"))
        self.heading("Signed answer requests, keep-alive, --log-answers none (ours with and without a secret)")
        secret_file = self.folder / "secret"
        secret_file.write_text(secret)
        for title, payload, script in (
            ("GET", json.dumps(dict(urllib.parse.parse_qsl(query)), separators=(",", ":")), REPORT),
            ("POST", body, f"wrk.method, wrk.body = 'POST', [=[{body}]=]\nwrk.headers['Content-Type'] = 'application/json'\n" + REPORT),
        ):
            (self.folder / "signed.lua").write_text(script)
            field = f"Authorization: Bearer {webhook_token(secret, payload.encode())}"
            target = TARGET if title == "GET" else "/voice/answer"
            flags = ["--log-answers", "none"]
            servers = [
                self.ours(*flags, "--signature-secret-file", str(secret_file), "--webhook-leeway", "1d", "--unsigned", "accept").start(),
                self.ours(*flags).start(),
            ]
            with_secret, without = self.alternate(
                servers, lambda server: self.wrk(server, self.options.seconds, script="signed.lua", fields=[field], target=target))
            for results, name in ((with_secret, "with"), (without, "without")):
                self.row(f"{title}: answers for each second of processor time, {name}", f"{median(r['per_cpu'] for r in results):,.0f}")
            extra = median(1e6 / a["per_cpu"] - 1e6 / b["per_cpu"] for a, b in zip(with_secret, without))
            self.row(f"{title}: processor time of the check, us", f"{extra:.1f}", target="<= 15", met=extra <= 15)
            verified = servers[0].metric("switchboard_webhooks_verified_total")
            if verified < sum(r["requests"] for r in with_secret):
                raise Failure(f"only {verified:.0f} requests were verified")
            self.end(servers)

    def calls(self):
        """Whole calls by `switchboard call`: how many one processor plays against a server on the other."""
        self.heading("Whole calls, answer and events each")
        server = self.ours().start()
        results = []
        for _ in range(self.options.runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = ["taskset", "-c", str(self.load_cpu), self.binary, "call", "--url", f"http://127.0.0.1:{server.port}",
                       "--rate", "20000/s", "--for", f"{self.options.seconds}s", "--mix", "phone:1", "--json"]
            run = subprocess.run(command, capture_output=True, text=True, timeout=self.options.seconds * 20 + 120)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if run.returncode != 0:
                raise Failure(f"switchboard call ended with {run.returncode}: {run.stdout}{run.stderr}")
            report = json.loads(run.stdout)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            results.append((report["calls"] / report["elapsed_us"] * 1e6, report["calls"] / spent,
                            (report["answers"]["count"] + report["events"]["count"]) / report["calls"]))
        a_second, per_cpu, requests = (median(values) for values in zip(*results))
        self.row("requests of a call", f"{requests:.1f}")
        self.row("calls a second", f"{a_second:,.0f}", target=">= 2000", met=a_second >= 2000)
        self.row("calls for each second of the client's processor time", f"{per_cpu:,.0f}")
        self.end([server])

    def start(self):
        self.heading("Start and idle")
        times = ([], [])
        for _ in range(20):
            for index, server in enumerate((self.ours(), self.nginx())):
                server.start(wait=False)
                times[index].append(server.first_answer() * 1000)
                self.end([server])
        took = [median(t) for t in times]
        self.row("exec to the first 200, median of 20, ms", *(f"{t:.1f}" for t in took), target="<= 60", met=took[0] <= 60)
        servers = [self.ours().start(), self.nginx().start()]
        idle = [server.resident() / 2**20 for server in servers]
        self.row("resident memory after one answer, MiB", *(f"{size:.1f}" for size in idle), target="<= 24", met=idle[0] <= 24)
        self.end(servers)

    def idle(self):
        count = 10_000
        self.heading(f"{count:,} idle keep-alive connections, each after one answer")
        servers = [self.ours("--log-answers", "none").start(), self.nginx().start()]
        sizes = [self.growth(server, count) for server in servers]
        self.end(servers)
        self.row("resident bytes for each", *(f"{s:,.0f}" for s in sizes), target="<= 4096", met=sizes[0] <= 4096)

    def growth(self, server, count):
        """Bytes by which `count` idle connections, each after one answer, let the server grow, for each."""
        before = server.resident()
        ask = f"GET {TARGET} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        connections = []
        try:
            for _ in range(count):
                connection = server.connect()
                connections.append(connection)
                connection.sendall(ask)
                if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
                    raise Failure(f"{server.name}: connection {len(connections)} was not answered")
            size = (server.resident() - before) / count
            # All of them are still there.
            for connection in connections[:: count // 100]:
                connection.sendall(ask)
                if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
                    raise Failure(f"{server.name}: an idle connection was not answered again")
        finally:
            for connection in connections:
                connection.close()
        return size


SCENARIOS = {
    "keep-alive": Bench.keep_alive, "logged": Bench.logged, "close": Bench.close, "offered": Bench.offered, "events": Bench.events,
    "flows": Bench.flows, "signed": Bench.signed, "calls": Bench.calls, "start": Bench.start, "idle": Bench.idle,
}


def build():
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", str(ROOT)]
    subprocess.run([*command, "--product", "switchboard"], check=True, stdout=sys.stderr)
    folder = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return f"{folder}/switchboard"


def same_bytes(ours, nginx):
    bodies = [server.get(TARGET) for server in (ours, nginx)]
    if bodies[0] != bodies[1] or bodies[0][2] != NCCO:
        raise Failure(f"the two servers answer different things: {bodies}")


def main(kind, scenarios, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("scenario", nargs="*", help="of " + ", ".join(scenarios) + "; all where none is named")
    parser.add_argument("--quick", action="store_true", help="3 runs of 1 s instead of 9 of 2 s")
    parser.add_argument("--runs", type=int, help="runs of each server and scenario")
    parser.add_argument("--binary", help="a switchboard that is built already")
    parser.add_argument("--baseline", help="another switchboard, to which the scenario flows compares")
    parser.add_argument("--folder", help="where event logs go; must be on the disk that is to be measured (a temporary folder)")
    parser.add_argument("--same-fields", action="store_true", help="let nginx send the header fields that only ours sends")
    parser.add_argument("--check", action="store_true", help="exit code 1 where a target is missed")
    options = parser.parse_args()
    if options.same_fields:
        Nginx.fields = 'add_header X-Content-Type-Options nosniff; add_header X-Switchboard-Flow "answer#3 connect-phone";'
    options.seconds = 1 if options.quick else 2
    options.runs = options.runs or (3 if options.quick else 9)
    unknown = [name for name in options.scenario if name not in scenarios]
    if unknown:
        parser.error(f"no such scenario: {unknown[0]}; there are {', '.join(scenarios)}")
    path = os.environ["PATH"] + ":/usr/sbin"
    missing = [tool for tool in ("taskset", "wrk", "h2load", "nginx") if not shutil.which(tool, path=path)]
    if missing:
        parser.error(f"{', '.join(missing)} not found (Debian: apt-get install util-linux wrk nghttp2-client nginx-light)")
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        parser.error("one processor for the server and one for the load are needed")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < 10_200:
        parser.error(f"10,200 descriptors are needed, the limit is {hard} (ulimit -Hn)")

    # Servers are stopped on the way out, so SIGTERM must take that way.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="switchboard-bench-", dir=options.folder)))
        binary = os.path.abspath(options.binary) if options.binary else build()
        try:
            bench = kind(options, folder, binary, cpus, stack)
            pair = [bench.ours().start(), bench.nginx().start()]
            same_bytes(*pair)
            bench.end(pair)
            print(f"server on processor {cpus[0]}, load on {cpus[1]}; {options.runs} runs of {options.seconds} s each; "
                  f"load average {os.getloadavg()[0]:.1f}; events on {file_system(folder)}")
            for name in options.scenario or scenarios:
                scenarios[name](bench)
        except (Failure, subprocess.SubprocessError) as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 2
    print(f"\n{bench.missed} targets missed")
    return 1 if bench.missed and options.check else 0


def file_system(folder):
    return subprocess.run(["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(Bench, SCENARIOS, "Measures the server beside nginx on one processor each."))
