#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# An hour's load on one folder, with kills: events and answer requests of made-up calls come at a steady rate, the server is killed at
# random moments and started again, an admin asks for calls, and at the end the whole log is read. Nothing that was answered 200 may be
# missing, and neither memory nor descriptors may grow.
#
#   Tests/Benchmarks/endurance.py [--minutes N] [--rate N] [--calls N] [--kill-every SECONDS] [--rotate-size SIZE] [--binary FILE]
#
# Who sends does what Vonage does, but does not give up: an event whose answer never came is sent again, byte for byte, until there is one.
# So it may be in the log twice; the second must be marked. A body is worked out from its number, so that an hour's events need not be held
# here.
#
# A kill frees all memory, so kills would hide a leak. Hence the middle third has none: there one process lives for a third of the run. What
# grows with the log shows between the first third and the last, which have the same kills; what grows with age shows in the middle.
#
# In that third `switchboard call` plays whole calls beside it, which no kill cuts off: each of their events must be in the log, too.
#
# Latency is from sending to the answer, of those that a kill did not cut off. It is printed and not asserted: the machine may be shared,
# and this process is on it too.

import argparse
import array
import hashlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Faults"))

from harness import FLOWS, Client, Gone, Report, Server, examine, unfinished  # noqa: E402

NUMBER = "14155550100"
# Keep-alive connections; each carries calls of its own, and sends nothing before the last answer.
LANES = 8
# An inbound call that rings an app user, and is answered and ended: leg and status of each event.
STEPS = [
    (0, "started"), (0, "ringing"), (0, "answered"), (1, "started"), (1, "ringing"), (1, "answered"), (1, "completed"), (0, "completed"),
]
# So many calls of a lane go on at once.
TOGETHER = 4
# Seconds for a server to come back, and for a thread to end: far above what either takes on a busy machine.
PATIENCE = 60
SAMPLE = 10
# The server's window for repeats; it is full after so many events of one process, and takes some 3 MiB then.
WINDOW = 65_536
# Of memory, between medians of thirds. A third of an hour has some 120 samples, which waver by a few per cent of some 30 MiB with what was
# read and compressed just then. In the 120,000 events that one process meets in half such a third, 13 bytes lost with each make 5 %.
GROWTH = 0.05
# A closed file while it is compressed takes two descriptors, a call that is looked for in the whole log some for each of four searches.
SPARE_DESCRIPTORS = 10


class Events:
    """The events that have been sent, by number, as `examine` asks for them."""

    def __init__(self, seed, rate, began):
        self.seed, self.rate, self.began = seed, rate, began
        self.begun = [0] * LANES

    def place(self, number):
        """Lane, call of that lane, and step of that call."""
        index, lane = divmod(number - 1, LANES)
        group, within = divmod(index, TOGETHER * len(STEPS))
        step, call = divmod(within, TOGETHER)
        return lane, group * TOGETHER + call, step

    def names(self, lane, call):
        """Name of the call, both legs and the caller."""
        digest = hashlib.blake2b(f"{self.seed}/{lane}/{call}".encode(), digest_size=52).digest()
        caller = f"1202555{int.from_bytes(digest[48:]) % 10_000:04}"
        return f"CON-{uuid.UUID(bytes=digest[:16])}", (digest[16:32].hex(), str(uuid.UUID(bytes=digest[32:48]))), caller

    def time(self, number):
        """ISO 8601, of the moment at which it is due."""
        moment = self.began + (number - 1) / self.rate
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03}Z"

    def __getitem__(self, number):
        lane, call, step = self.place(number)
        name, legs, caller = self.names(lane, call)
        leg, status = STEPS[step]
        more = ""
        if status == "completed":
            more = ('"duration":"12","rate":"0.00720000","price":"0.00144000","start_time":null,"network":"US-FIXED",'
                    f'"disconnected_by":"{"user" if leg else "platform"}","note":"caf\\u00e9 \\"é\\"",')
        return (f'{{"n":{number},"headers":{{}},"from":"{caller}","to":"{"Alice" if leg else NUMBER}","uuid":"{legs[leg]}",'
                f'"conversation_uuid":"{name}","status":"{status}","direction":"{"outbound" if leg else "inbound"}",{more}'
                f'"timestamp":"{self.time(number)}"}}').encode()

    def get(self, number):
        return self[number] if number > 0 and (number - 1) // LANES < self.begun[(number - 1) % LANES] else None

    def request(self, number):
        """Target of the answer request that comes before a call's first event."""
        lane, call, _ = self.place(number)
        name, legs, caller = self.names(lane, call)
        return f"/voice/answer?to={NUMBER}&from={caller}&endpoint_type=phone&conversation_uuid={name}&uuid={legs[0]}"


class Sample:
    def __init__(self, at, age, resident, descriptors):
        self.at, self.age, self.resident, self.descriptors = at, age, resident, descriptors


class Endurance:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.duration = options.minutes * 60
        self.random = random.Random(options.seed)
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.server, self.started, self.killed = None, 0.0, 0.0
        self.kills, self.outages, self.waits = 0, [], []
        # Of `examine`'s ledger.
        self.sent, self.kept, self.refused = None, set(), set()
        self.resent, self.problems = set(), []
        self.window, self.latencies, self.answers = [], array.array("d"), array.array("d")
        self.asked, self.samples = array.array("d"), []
        self.played = None

    def problem(self, text):
        """Bounded: a fault that comes with each event is told often enough."""
        with self.lock:
            if len(self.problems) < 100:
                self.problems.append(text)

    # The server

    def start(self):
        flags = ["--nccos", str(FLOWS), "--rotate-size", self.options.rotate_size, "--calls-in-memory", str(self.options.calls_in_memory)]
        self.started = time.monotonic()
        # Whatever becomes of this process, the server ends with it.
        self.server = Server(self.folder, *flags, prefix=("setpriv", "--pdeathsig", "KILL", "--"))

    def kill(self):
        """True where it had to be killed, and had not ended by itself."""
        server, self.server = self.server, None
        ended = server.process.poll()
        if ended is not None:
            self.problem(f"the server ended by itself with {ended}: {server.said()[-500:]}")
        server.kill()
        self.killed = time.monotonic()
        return ended is None

    def connect(self):
        """A client and its server, or None where the run is over."""
        end = time.monotonic() + PATIENCE
        while not self.over.is_set():
            server = self.server
            if server is not None:
                try:
                    return Client(server.port), server
                except Gone:
                    pass
            if time.monotonic() > end:
                self.problem(f"no server for {PATIENCE} s")
                self.over.set()
            time.sleep(0.005)
        return None

    # The load

    def drive(self, lane):
        """Sends a lane's events, each when it is due or as soon as the one before is answered."""
        link, count, end = None, 0, self.began + self.duration
        while not self.over.is_set():
            number = count * LANES + lane + 1
            due = self.began + (number - 1) / self.options.rate
            if due >= end or time.monotonic() >= end or self.over.wait(max(due - time.monotonic(), 0)):
                break
            count += 1
            self.sent.begun[lane] = count
            if self.sent.place(number)[2] == 0:
                link, status, seconds = self.ask(link, "GET", self.sent.request(number))
                if link is None:
                    break
                if status != 200:
                    self.problem(f"an answer request got {status}")
                with self.lock:
                    self.answers.append(seconds)
            first = time.monotonic()
            link, status, seconds = self.ask(link, "POST", "/voice/event", self.sent[number], number)
            with self.lock:
                if status == 200:
                    self.kept.add(number)
                    self.latencies.append(seconds)
                    self.window.append(seconds)
                    if number in self.resent:
                        self.waits.append(time.monotonic() - first)
                elif status is not None:
                    self.refused.add(number)
        if link:
            link[0].close()

    def ask(self, link, method, target, body=b"", number=None):
        """Link, status and seconds; again until there is an answer. Link and status are None where the run ended before."""
        while True:
            is_new = link is None
            link = link or self.connect()
            if link is None:
                return None, None, 0.0
            client, server = link
            began = time.monotonic()
            try:
                status, _ = client.request(method, target, body)
            except Gone as error:
                client.close()
                link = None
                with self.lock:
                    if number is not None:
                        self.resent.add(number)
                # One that comes while the server tries its port may be reset.
                if self.server is server and not is_new:
                    self.problem(f"a connection ended without a kill: {error}")
                continue
            now = time.monotonic()
            with self.lock:
                if self.killed and self.server is server:
                    self.outages.append(now - self.killed)
                    self.killed = 0.0
            return link, status, now - began

    def play(self):
        """Whole calls by `switchboard call`, in the middle third and not near its ends."""
        third = self.duration / 3
        if self.over.wait(max(self.began + third * 1.05 - time.monotonic(), 0)):
            return
        command = [self.options.binary, "call", "--url", f"http://127.0.0.1:{self.server.port}", "--rate", f"{self.options.calls:g}/s",
                   "--for", f"{int(third * 900)}ms", "--mix", "app:70,phone:30", "--json"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=third + 2 * PATIENCE)
        try:
            self.played = json.loads(run.stdout)
        except ValueError:
            pass
        if run.returncode != 0 or not self.played or self.played["errors"]:
            self.problem(f"switchboard call ended with {run.returncode}: {run.stdout[-300:]}{run.stderr[-300:]}")

    # What is measured

    def watch(self):
        """A line each ten seconds."""
        print(f"  {'s':>5}{'kills':>7}{'events':>9}{'p50 ms':>9}{'p99 ms':>9}{'worst':>9}{'calls ms':>10}{'age s':>7}{'MiB':>7}"
              f"{'descriptors':>13}", flush=True)
        count = 0
        while not self.over.wait(max(self.began + (count + 1) * SAMPLE - time.monotonic(), 0)):
            count += 1
            with self.lock:
                window, self.window = sorted(self.window), []
            sample, took = None, 0.0
            server, started = self.server, self.started
            if server is not None:
                try:
                    took = self.ask_for_calls(server, count)
                    sample = self.measure(server, started)
                except (Gone, OSError) as error:
                    # A kill came between, or it is only starting.
                    if self.server is server and time.monotonic() - started > SAMPLE:
                        self.problem(f"no answer about calls: {error}")
                except (ValueError, KeyError) as error:
                    self.problem(f"an answer about calls that cannot be read: {error!r}")
            times = [f"{1000 * quantile(window, share):.1f}" for share in (0.5, 0.99, 1)] if window else ["-"] * 3
            line = f"  {time.monotonic() - self.began:5.0f}{self.kills:7}{len(self.kept):9,}" + "".join(f"{text:>9}" for text in times)
            if sample:
                line += f"{1000 * took:10.0f}{sample.age:7.0f}{sample.resident / 2**20:7.1f}{sample.descriptors:13}"
            print(line, flush=True)

    def ask_for_calls(self, server, count):
        """Lists calls and tells one of the last, each minute one of any; seconds that the list took."""
        token = (self.folder / "admin-token").read_text().strip()
        lane = self.random.randrange(LANES)
        # All events of a call have been answered when the group behind its own begins.
        groups = (self.sent.begun[lane] - 1) // (TOGETHER * len(STEPS))
        with Client(server.port) as client:
            began = time.monotonic()
            status, body = client.request("GET", "/calls?limit=200", token=token)
            took = time.monotonic() - began
            self.asked.append(took)
            if status != 200 or len(json.loads(body)["calls"]) == 0:
                self.problem(f"/calls got {status}: {body[:200]!r}")
            if groups > 0:
                group = self.random.randrange(groups) if count % 6 == 0 else groups - 1
                name = self.sent.names(lane, group * TOGETHER + self.random.randrange(TOGETHER))[0]
                status, body = client.request("GET", f"/calls/{name}", token=token)
                steps = {step["event"]["n"] for step in json.loads(body)["steps"] if step["kind"] == "event"} if status == 200 else ()
                if len(steps) != len(STEPS):
                    self.problem(f"/calls/{name} got {status} and {len(steps)} events instead of {len(STEPS)}: {body[:200]!r}")
        return took

    def measure(self, server, started):
        process = Path(f"/proc/{server.process.pid}")
        resident = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if resident == 0:
            raise Gone("killed")
        now = time.monotonic()
        sample = Sample(now - self.began, now - started, resident, len(os.listdir(process / "fd")))
        self.samples.append(sample)
        return sample

    # The run

    def run(self, report):
        self.start()
        with self.server.connect():
            pass
        self.began = time.monotonic()
        self.sent = Events(self.options.seed, self.options.rate, time.time())
        lanes = [threading.Thread(target=self.drive, args=(lane,), daemon=True) for lane in range(LANES)]
        watcher = threading.Thread(target=self.watch, daemon=True)
        player = threading.Thread(target=self.play, daemon=True)
        others = [watcher, player] if self.options.calls else [watcher]
        for thread in [*lanes, *others]:
            thread.start()
        end = self.began + self.duration
        kill_at = self.next_kill()
        while not self.over.is_set() and time.monotonic() < end:
            self.over.wait(max(min(kill_at, end, time.monotonic() + 0.5) - time.monotonic(), 0))
            if time.monotonic() >= min(kill_at, end):
                if kill_at >= end:
                    continue
                self.kills += self.kill()
                self.start()
                kill_at = self.next_kill()
            elif self.server.process.poll() is not None:
                self.kill()
                self.start()
        for lane in lanes:
            lane.join(2 * PATIENCE)
        elapsed = time.monotonic() - self.began
        self.over.set()
        for thread in others:
            thread.join(2 * PATIENCE)
        if any(thread.is_alive() for thread in [*lanes, *others]):
            self.problem("a thread of the load did not end")
        self.judge(report, elapsed)

    def next_kill(self):
        """At random, also while it starts; never in the middle third."""
        if not self.options.kill_every:
            return float("inf")
        moment = time.monotonic() + min(self.random.expovariate(1 / self.options.kill_every), 4 * self.options.kill_every)
        calm = self.began + self.duration / 3, self.began + 2 * self.duration / 3
        return moment + self.duration / 3 if calm[0] <= moment < calm[1] else moment

    # What is promised

    def judge(self, report, elapsed):
        planned = self.options.rate * self.duration
        report.check(f"{len(self.kept):,} events were answered 200, at least 95 % of {planned:,.0f}", len(self.kept) >= 0.95 * planned)
        report.check("none was refused", not self.refused, f"{len(self.refused)} were, first event {min(self.refused, default=0)}")
        report.check("whatever else was asked was answered, and no connection or server ended but by a kill", not self.problems,
                     "; ".join(self.problems[:3]) + f" ({len(self.problems)} in all)")
        if self.options.kill_every and self.duration > 6 * self.options.kill_every:
            report.check("there were kills", self.kills > 0)
        left = unfinished(self.folder, PATIENCE)
        report.check("every closed file is compressed", not left, f"{left}")
        code = self.server.stop()
        report.check("SIGTERM ends the server with 0", code == 0, f"it ended with {code}")

        seen, others = {}, []
        report.sound(f"all {len(self.kept):,} are in the log, whole, in lines with a good check sum and without a gap in seq",
                     examine(self.folder, self, resent=self.resent, seen=seen, others=others))
        if self.options.calls:
            told = self.played["events"]["count"] if self.played else 0
            report.check(f"{told:,} events of played calls were answered, and all of them are there", 0 < told == len(others),
                         f"the log has {len(others):,}")
        lost = len(self.kept.difference(seen))
        again = sum(len(places) > 1 for places in seen.values())
        latest, early = [0] * LANES, 0
        for number in seen:
            lane = (number - 1) % LANES
            early += number < latest[lane]
            latest[lane] = max(latest[lane], number)
        report.check("and in the order in which each connection sent them", early == 0, f"{early} stand behind a later one")
        command = [self.options.binary, "events", "verify", "--events", str(self.folder)]
        verified = subprocess.run(command, capture_output=True, text=True, timeout=600)
        report.check("switchboard events verify finds the log good", verified.returncode == 0, (verified.stdout + verified.stderr)[-500:])

        figures = self.judge_resources(report)
        closed, torn = (len(list(self.folder.glob(pattern))) for pattern in ("events-*.gz", "events.torn-*"))
        latencies, answers = sorted(self.latencies), sorted(self.answers)
        asked = sorted(self.asked)
        rows = [
            ("duration", f"{elapsed / 60:.1f} min"),
            ("events answered 200, a second", f"{len(self.kept):,} ({len(self.kept) / elapsed:.1f})"),
            ("answer requests", f"{len(answers):,}"),
            ("kills", f"{self.kills}"),
            ("events sent again, of these twice in the log", f"{len(self.resent)}, {again}"),
            ("torn ends, closed files", f"{torn}, {closed}"),
            ("events lost", f"{lost}"),
            *(self.played_rows() if self.played else ()),
            *figures,
            ("events: p50, p99, worst", milliseconds(latencies)),
            ("answers: p50, p99, worst", milliseconds(answers)),
            ("lists of calls: p50, p99, worst", milliseconds(asked)),
            ("from a kill to the next answer: p50, worst", milliseconds(sorted(self.outages), (0.5, 1))),
            ("first sending to 200 over kills, worst", milliseconds(sorted(self.waits), (1,))),
        ]
        print("\n| | |\n|---|---|")
        for row in rows:
            print(f"| {row[0]} | {row[1]} |")
        print(flush=True)

    def played_rows(self):
        played = self.played
        times = ", ".join(f"{played['answers'][name] / 1000:.1f}" for name in ("p50_us", "p99_us", "worst_us"))
        return [("calls played whole, a second", f"{played['calls']:,} ({played['calls'] / played['elapsed_us'] * 1e6:.1f})"),
                ("their answers: p50, p99, worst", f"{times} ms")]

    def judge_resources(self, report):
        """Checks of memory and descriptors, and rows of the table."""
        third = self.duration / 3
        # Before, fewer calls are in memory than may be.
        full = self.options.calls_in_memory * len(STEPS) / self.options.rate
        rows = []
        first = [sample for sample in self.samples if full <= sample.at < third]
        last = [sample for sample in self.samples if sample.at >= 2 * third]
        # In the middle third one process lives on; its window for repeats fills first.
        middle = [sample for sample in self.samples if third <= sample.at < 2 * third and sample.age > WINDOW / self.options.rate]
        young, old = middle[: len(middle) // 3], middle[len(middle) - len(middle) // 3:]
        for name, before, after in [("last third of the run beside the first", first, last),
                                    ("one process in the middle third, its last samples beside its first", young, old)]:
            if min(len(before), len(after)) < 5:
                print(f"      memory, {name}: not judged, there are too few samples")
                continue
            sizes = [statistics.median(sample.resident for sample in samples) / 2**20 for samples in (before, after)]
            growth = sizes[1] / sizes[0] - 1
            text = f"{sizes[0]:.1f}, {sizes[1]:.1f} MiB ({100 * growth:+.1f} %)"
            report.check(f"memory, {name}: {text}, at most {100 * GROWTH:+.0f} %", growth <= GROWTH)
            rows.append((f"memory, {name}", text))
        if self.samples:
            rows.append(("most memory", f"{max(sample.resident for sample in self.samples) / 2**20:.1f} MiB"))
        if first and last:
            counts = [statistics.median(sample.descriptors for sample in samples) for samples in (first, last)]
            most = max(sample.descriptors for sample in self.samples)
            report.check(f"descriptors: {counts[0]:.0f} in the first third, {counts[1]:.0f} in the last, {most} at most",
                         counts[1] <= counts[0] + 1 and most <= counts[0] + SPARE_DESCRIPTORS)
            rows.append(("descriptors in the first third, the last, at most", f"{counts[0]:.0f}, {counts[1]:.0f}, {most}"))
        return rows


def quantile(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def milliseconds(ordered, shares=(0.5, 0.99, 1)):
    return ", ".join(f"{1000 * quantile(ordered, share):.1f}" for share in shares) + " ms" if ordered else "none"


def main():
    parser = argparse.ArgumentParser(description="Loads the server for an hour, kills it now and then, and reads the log.")
    parser.add_argument("--minutes", type=float, default=60, help="length of the run (60)")
    parser.add_argument("--rate", type=float, default=200, help="events a second (200)")
    parser.add_argument("--calls", type=float, default=10, help="whole calls a second in the middle third (10); 0 for none")
    parser.add_argument("--kill-every", type=float, default=20, help="seconds between kills, on average (20); 0 for none")
    parser.add_argument("--rotate-size", default="4MiB", help="the server's (4MiB)")
    parser.add_argument("--calls-in-memory", type=int, default=1000, help="the server's (1000: they are all replaced each minute)")
    parser.add_argument("--seed", type=int, help="of all random choices; printed")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/switchboard"))
    parser.add_argument("--folder", help="where the log goes (a temporary folder)")
    options = parser.parse_args()
    if not 0 < options.minutes <= 24 * 60 or not 0 < options.rate <= 10_000:
        parser.error("a run has at most 1440 minutes and 10,000 events a second")
    if options.calls and not 0.1 <= options.calls <= 10_000:
        parser.error("--calls is 0, or 0.1 to 10,000")
    if options.kill_every < 0 or options.calls_in_memory < 1:
        parser.error("--kill-every is 0 or more, --calls-in-memory 1 or more")
    options.binary = os.path.abspath(options.binary)
    if not shutil.which("setpriv"):
        parser.error("setpriv not found (Debian: apt-get install util-linux)")
    if not os.access(options.binary, os.X_OK):
        parser.error(f"no {options.binary}: run swift build -c release, or name one with --binary")
    options.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4))
    Server.binary = options.binary

    # The server is stopped on the way out, so these signals must take that way.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    work = Path(tempfile.mkdtemp(prefix="switchboard-endurance-", dir=options.folder))
    folder = work / "events"
    folder.mkdir(mode=0o700)
    print(f"seed {options.seed}; {options.minutes:g} min, {options.rate:g} events a second on {LANES} connections, "
          f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    report, endurance, is_whole = Report(), Endurance(options, folder), False
    try:
        endurance.run(report)
        is_whole = True
    finally:
        endurance.over.set()
        server = endurance.server
        if server is not None:
            server.kill()
        if is_whole and report.failed:
            print(f"the log is kept in {work}", file=sys.stderr)
        else:
            shutil.rmtree(work, ignore_errors=True)
    print(f"{report.passed} checks passed, {report.failed} failed")
    return 1 if report.failed else 0


sys.exit(main())
