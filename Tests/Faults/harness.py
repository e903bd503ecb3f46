# SPDX-License-Identifier: MIT
#
# What every scenario needs: a server (also under strace), a client whose every wait is bounded, a ledger of what was promised, and the
# check of a folder against that ledger. The check reads the log with code of its own, so it cannot share a fault with the server.

import contextlib
import gzip
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time
import zlib
from pathlib import Path

FLOWS = Path(__file__).resolve().parents[2] / "nccos"
ANSWER = "/voice/answer?to=447700900123&from_user=Alice"


class Gone(Exception):
    """The server closed the connection, or is not there."""


class Client:
    """One keep-alive connection; with a context of `ssl` as `tls` one of TLS, where `session` is one to resume."""

    def __init__(self, port, timeout=20, tls=None, session=None):
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.port = self.socket.getsockname()[1]
            if tls:
                self.socket = tls.wrap_socket(self.socket, server_hostname="localhost", session=session)
        except OSError as error:
            raise Gone(str(error)) from error
        self.buffer = b""

    def request(self, method, target, body=b"", token=None):
        """Status and body of the answer; `token` is the admin's."""
        admin = f"Authorization: Bearer {token}\r\n" if token else ""
        head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{admin}Content-Length: {len(body)}\r\n\r\n".encode()
        try:
            self.socket.sendall(head + body)
            while b"\r\n\r\n" not in self.buffer:
                self.receive()
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            length = int(length[1]) if length else 0
            while len(self.buffer) < length:
                self.receive()
        except OSError as error:
            raise Gone(str(error)) from error
        answer, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(head.split()[1]), answer

    def receive(self):
        received = self.socket.recv(65536)
        if not received:
            raise Gone("closed")
        self.buffer += received

    def answer(self):
        """Seconds that an answer took."""
        began = time.monotonic()
        status, _ = self.request("GET", ANSWER)
        if status != 200:
            raise AssertionError(f"an answer request got {status}")
        return time.monotonic() - began

    def health(self):
        status, body = self.request("GET", "/health")
        return f"{status} {body.decode().strip()}"

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Ledger:
    """Which events were sent, and what was said to them."""

    def __init__(self, seed=0):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.sent, self.kept, self.refused = {}, set(), set()

    def event(self, client, size=None):
        """Posts the next event; its number and the status of the answer."""
        with self.lock:
            number = len(self.sent) + 1
            pad = "x" * (self.random.randrange(400) if size is None else size)
            body = f'{{"n":{number},"status":"ringing","text":"\\u00e9 é \\"","none":null,"price":1.50,"pad":"{pad}"}}'.encode()
            self.sent[number] = body
        status, _ = client.request("POST", "/voice/event", body)
        with self.lock:
            if status == 200:
                self.kept.add(number)
            else:
                self.refused.add(number)
        return number, status

    def press(self, client):
        """A caller presses 1 in the menu of the shipped flows: status, seconds and body. Whether it is kept is not promised."""
        with self.lock:
            number = len(self.sent) + 1
            body = f'{{"n":{number},"dtmf":{{"digits":"1","timed_out":false}},"uuid":"leg","conversation_uuid":"CON-1"}}'.encode()
            self.sent[number] = body
        began = time.monotonic()
        status, answer = client.request("POST", "/voice/choice", body)
        return status, time.monotonic() - began, answer

    def statuses(self, client, count, size=None):
        return [self.event(client, size)[1] for _ in range(count)]


CLOSED = r"events-\d{8}T\d{6}Z-\d+(-\d+)?\.jsonl"
LINE = re.compile(rb'\{"seq":([1-9]\d*),"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",("kind":"\w+",.*)\Z', re.S)


def read_line(line):
    """Number, the event as it was kept or None, and whether it is marked as a repeat; None for a bad line."""
    if len(line) < 60 or line[-18:-10] != b',"crc":"' or line[-2:] != b'"}' or not re.fullmatch(rb"[0-9a-f]{8}", line[-10:-2]):
        return None
    match = LINE.match(line[:-18])
    if not match or zlib.crc32(line[:-18]) != int(line[-10:-2], 16):
        return None
    head, found, event = match[2].partition(b',"event":')
    # Behind an event that a flow answered stands the answer.
    event = event.partition(b',"flow":"')[0]
    return int(match[1]), event if found else None, head.endswith(b',"repeat":true')


def examine(folder, ledger, kept=None, tail_may_be_torn=False, refused_may_be_kept=False, exempt=(), resent=(), seen=None, others=None):
    """What is wrong with the log, as a list of sentences; empty where every promise was kept.

    `kept` replaces the ledger's, for a moment in the past; `exempt` are events whose bytes, and with them a number, a faulty disk lost.
    A torn tail is what a killed server leaves before the next start. Events in `resent` were sent until they were answered, so each may be
    there again, marked; unmarked only in another file, since a start looks for repeats in the current one. `seen` is filled with the
    numbers of the events in the order of the log, each with the `seq` of its lines, and `others`, where it is given, with the events
    that somebody else sent: those without a number.
    """
    kept = set(ledger.kept if kept is None else kept)
    seen = {} if seen is None else seen
    problems, files, names, torn_seq = [], [], {}, 0
    for path in sorted(Path(folder).iterdir()):
        if path.name.startswith("events.damaged-"):
            problems.append(f"{path.name}: a crash was taken for damage")
        elif path.name.startswith("events.torn-"):
            torn = path.read_bytes()
            torn_seq = max([torn_seq, *(record[0] for record in map(read_line, torn.split(b"\n")) if record)])
            for number in kept - set(exempt):
                if b',"event":' + ledger.sent[number] + b',"crc":' in torn:
                    problems.append(f"{path.name} holds event {number}, which was answered 200")
        elif re.fullmatch(CLOSED + r"\.gz\.part", path.name):
            # What a kill or a stop left of compressing; the plain file is still there.
            if not path.with_suffix("").with_suffix("").exists():
                problems.append(f"{path.name} is there without its plain file")
        elif re.fullmatch(rf"events\.jsonl|{CLOSED}|{CLOSED}\.gz", path.name):
            data = path.read_bytes()
            if path.suffix == ".gz":
                try:
                    data = gzip.decompress(data)
                except (OSError, EOFError, zlib.error) as error:
                    problems.append(f"{path.name} is no whole gzip file: {error}")
                    continue
                plain = path.with_suffix("")
                if plain.exists():
                    # The end came between renaming and removing: one file in two forms.
                    if plain.read_bytes() != data:
                        problems.append(f"{path.name} does not hold what {plain.name} does")
                    continue
            lines = data.split(b"\n")
            rest = lines.pop()
            if rest and not (tail_may_be_torn and path.name == "events.jsonl"):
                problems.append(f"{path.name} ends in {len(rest)} bytes without a line feed")
            records = []
            for place, line in enumerate(lines):
                record = read_line(line)
                if record is None:
                    if not (tail_may_be_torn and path.name == "events.jsonl" and place == len(lines) - 1):
                        problems.append(f"{path.name}: line {place + 1} is bad: {line[:80]!r}")
                    continue
                records.append(record)
            if records:
                files.append((records[0][0], path.name, records))
        elif path.name not in ("events.lock", "admin-token", "filler"):
            problems.append(f"{path.name} has no place here")
    expected = 1
    for _, name, records in sorted(files):
        for seq, event, is_repeat in records:
            # Numbers of whole lines behind a torn one are not given again, as the lines may be found.
            if seq < expected or (seq > expected + len(exempt) and seq - 1 > torn_seq):
                problems.append(f"{name}: seq {seq} where {expected} is due")
            expected = seq + 1
            if event is None:
                continue
            number = re.match(rb'\{"n":(\d+),', event)
            number = int(number[1]) if number else 0
            if number == 0 and others is not None:
                others.append(event)
                continue
            if ledger.sent.get(number) != event:
                problems.append(f"{name}: seq {seq} holds an event that was not sent: {event[:80]!r}")
            elif number in seen and not (number in resent and (is_repeat or name != names[number])):
                problems.append(f"{name}: event {number} is there twice, as seq {seen[number][-1]} and {seq}")
            elif is_repeat and number not in seen:
                problems.append(f"{name}: event {number}, seq {seq}, is marked as a repeat and is not there before")
            seen.setdefault(number, []).append(seq)
            names[number] = name
    for number in sorted(kept - set(seen) - set(exempt)):
        problems.append(f"event {number} was answered 200 and is not there")
    if not refused_may_be_kept:
        for number in sorted(ledger.refused & set(seen)):
            problems.append(f"event {number} was refused and is there, as seq {seen[number]}")
    return problems


def unfinished(folder, limit=10):
    """Closed files that are not compressed, after so many seconds at most."""
    end = time.monotonic() + limit
    while True:
        names = [path.name for path in Path(folder).iterdir() if re.fullmatch(rf"{CLOSED}(\.gz\.part)?", path.name)]
        if not names or time.monotonic() > end:
            return sorted(names)
        time.sleep(0.005)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on a folder; `strace` are flags of strace, under which it then runs; `prefix` is a command that starts it; `tls` is the
    context of its clients where it speaks TLS."""

    binary = None

    def __init__(self, folder, *flags, strace=(), prefix=(), tls=None):
        self.port = free_port()
        self.tls = tls
        command = [
            self.binary, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1", "--number", "14155550100",
            "--events", str(folder), "--quiet", *flags,
        ]
        if strace:
            command = ["strace", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null", *strace, "--", *command]
        self.line = " ".join(map(str, [*prefix, *command]))
        self.is_traced = bool(strace)
        # A file and no pipe: nobody reads it while the server runs.
        self.output = open(f"{folder}.output", "w+b")
        # Of the environment only what is needed: a setting in it would change what is tested.
        environment = {"PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            [*prefix, *command], stdout=self.output, stderr=self.output, env=environment, start_new_session=True)

    @property
    def pid(self):
        """Of the server itself; None where it has ended or not begun."""
        if not self.is_traced:
            return self.process.pid
        with contextlib.suppress(OSError, IndexError):
            pid = int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])
            if Path(f"/proc/{pid}/exe").resolve().name != "strace":
                return pid
        return None

    def connect(self, limit=15):
        """A client, as soon as the server answers: one that comes while it tries its port may be reset."""
        end = time.monotonic() + limit
        while True:
            try:
                client = Client(self.port, tls=self.tls)
                client.health()
                return client
            except Gone:
                if self.process.poll() is not None:
                    raise Gone(f"it ended with {self.process.returncode}: {self.said()}") from None
                if time.monotonic() > end:
                    raise Gone(f"it does not listen after {limit} s: {self.said()}") from None
                time.sleep(0.002)

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace").strip()

    def signal(self, number):
        pid = self.pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def wait(self, limit):
        """The exit code, or None where it is still there after `limit` seconds."""
        end, pid = time.monotonic() + limit, self.pid
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return self.process.returncode
            # strace may wait for the end of a delay that it made, when the server has long ended.
            if self.is_traced and pid:
                with contextlib.suppress(OSError):
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    if fields[0] in "ZX":
                        with contextlib.suppress(subprocess.TimeoutExpired):
                            return self.process.wait(0.5)
                        status = int(fields[49])
                        return -(status & 0x7F) if status & 0x7F else status >> 8
            time.sleep(0.002)
        return None

    def stop(self, limit=12):
        """In order; the exit code."""
        self.signal(signal.SIGTERM)
        code = self.wait(limit)
        self.kill()
        return code

    def kill(self):
        """With strace, whatever it still waits for."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            if self.is_traced:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.output.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, ok, detail=""):
        self.passed += bool(ok)
        self.failed += not ok
        print(f"{'ok   ' if ok else 'FAIL '} {name}" + ("" if ok or not detail else f": {detail}"), flush=True)
        return ok

    def sound(self, name, problems, detail=""):
        """A check of `examine`'s findings."""
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        return self.check(name, not problems, "; ".join(problems[:3]) + more + (f" [{detail}]" if detail else ""))


class Context:
    """What a scenario is given."""

    def __init__(self, options, work, report):
        self.options, self.work, self.report = options, work, report
        self.random = random.Random(options.seed)
        self.count = 0

    def folder(self):
        self.count += 1
        path = self.work / f"events-{self.count}"
        path.mkdir(mode=0o700)
        return path

    def ledger(self):
        return Ledger(self.random.random())
