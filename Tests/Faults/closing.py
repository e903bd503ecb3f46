# SPDX-License-Identifier: MIT
#
# Faults at single system calls of closing, compressing and deleting log files. Closing is the log's thread's, compressing another's that
# runs behind it: so the first is hit under load with tiny files, the second on a folder of closed files with known names.

import re
import signal
import time

from full_disk import fill, small_disk
from harness import Gone, Server, examine, unfinished

TINY = ("--rotate-size", "1KiB")
CALLS = ("openat", "write", "fdatasync", "rename,renameat,renameat2", "unlink,unlinkat")


def is_killed(code):
    return code in (-signal.SIGKILL, 128 + signal.SIGKILL)


def next_start(ledger, folder, *flags):
    """Everything is there, at once and when the next start has finished what was left half done."""
    problems = examine(folder, ledger, tail_may_be_torn=True)
    with Server(folder, *flags) as server:
        try:
            with server.connect() as client:
                _, status = ledger.event(client)
                if status != 200:
                    problems.append(f"after it an event got {status}")
                problems += [f"{name} is not compressed" for name in unfinished(folder)]
        except Gone as gone:
            problems.append(f"after it the server was gone: {gone}")
        if server.stop() != 0:
            problems.append("after it the server did not end in order")
    return problems + examine(folder, ledger)


def until_missed(context, name, call, run, most=60):
    """Runs with SIGKILL at the K-th such call, for each K until none is hit."""
    report = context.report
    hits, misses, kept, problems = 0, 0, 0, []
    for place in range(1, most + 1):
        folder, ledger = context.folder(), context.ledger()
        code = run(folder, ledger, f"inject={call}:signal=SIGKILL:when={place}")
        hits += is_killed(code)
        misses = 0 if is_killed(code) else misses + 1
        problems += [f"K = {place}: {problem}" for problem in next_start(ledger, folder, *TINY)]
        kept += len(ledger.kept)
        if problems or misses == 2:
            break
    call = call.partition(",")[0]
    report.sound(f"SIGKILL at each {call} {name}: {hits} places, {kept} events answered 200 are there once", problems)
    report.check(f"SIGKILL at each {call} {name}: some place was hit", hits > 0)


def killed_while_closing(context):
    def run(folder, ledger, fault):
        with Server(folder) as server, server.connect():
            # So that no kill comes while the admin token is made.
            server.stop()
        # Only the log's own thread touches these two.
        strace = ["-P", str(folder), "-P", str(folder / "events.jsonl"), "-e", f"trace={fault.split('=')[1].split(':')[0]}", "-e", fault]
        with Server(folder, *TINY, strace=strace) as server:
            try:
                with server.connect() as client:
                    ledger.statuses(client, 12 if context.options.quick else 20, size=200)
            except Gone:
                pass
            return server.stop()

    for call in CALLS:
        if not call.startswith("unlink"):
            until_missed(context, "while files are closed", call, run)


def closed_files(folder, ledger, count):
    """A log cut into files as closing makes them; their names without what follows .jsonl."""
    with Server(folder) as server, server.connect() as client:
        ledger.statuses(client, 3 * (count + 1), size=300)
        server.stop()
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    names = []
    for place in range(count):
        part = lines[3 * place:3 * place + 3]
        sequence, at = re.match(rb'\{"seq":(\d+),"at":"([^"]*)"', part[0]).groups()
        names.append(f"events-{re.sub('[-:]|[.][0-9]*', '', at.decode())}-{sequence.decode()}.jsonl")
        (folder / names[-1]).write_bytes(b"".join(part))
    (folder / "events.jsonl").write_bytes(b"".join(lines[3 * count:]))
    return names


def killed_while_compressing(context):
    def run(folder, ledger, fault):
        names = closed_files(folder, ledger, 2 if context.options.quick else 3)
        paths = [str(folder / (name + end)) for name in names for end in ("", ".gz", ".gz.part")]
        strace = [*(word for path in [*paths, str(folder)] for word in ("-P", path)), "-e", f"trace={fault.split('=')[1].split(':')[0]}"]
        with Server(folder, strace=[*strace, "-e", fault]) as server:
            try:
                with server.connect() as client:
                    ledger.statuses(client, 1)
                    # Killed, or done.
                    end = time.monotonic() + 30
                    while server.process.poll() is None and unfinished(folder, 0) and time.monotonic() < end:
                        time.sleep(0.002)
                    ledger.statuses(client, 1)
            except Gone:
                pass
            return server.stop()

    for call in CALLS:
        until_missed(context, "while files are compressed", call, run)


def failing_to_close(context):
    """Renaming fails, then works again: the file goes on, health says so, and nothing is refused."""
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a log that cannot be closed"
    strace = ["-e", "trace=rename,renameat,renameat2", "-P", str(folder / "events.jsonl"), "-e", "inject=rename,renameat,renameat2:error=EACCES"]
    with Server(folder, *TINY, strace=strace) as server, server.connect() as client:
        statuses = ledger.statuses(client, 20)
        report.check(f"{name}: events get 200", set(statuses) == {200}, f"{statuses}")
        report.check(f"{name}: health is 200 and says degraded", client.health() == '200 {"status":"degraded"}', client.health())
        report.check(f"{name}: the one file goes on", not list(folder.glob("events-*")))
        report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
    report.sound(f"{name}: the log is whole", examine(folder, ledger))


def full_disk_of_closed_files(context):
    """Closed files fill a disk: without --keep-size they stay, with it the oldest go and events are kept again."""
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a disk full of closed files"
    with small_disk(folder, "256k"):
        names = closed_files(folder, ledger, 20)
        with Server(folder) as server, server.connect() as client:
            ledger.event(client)
            unfinished(folder)
            server.stop()
        before = sorted(path.name for path in folder.glob("events-*"))
        fill(folder / "filler")
        with Server(folder, "--rotate-size", "2KiB") as server, server.connect() as client:
            statuses = ledger.statuses(client, 30, size=1000)
            report.check(f"{name}: events get 503", statuses[-1] == 503, f"{statuses}")
            report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
        left = sorted(path.name for path in folder.glob("events-*"))
        report.check(f"{name}: none is deleted without --keep-size", len(before) == len(names) and set(before) <= set(left), f"{left}")
        report.sound(f"{name}: the log is whole", examine(folder, ledger))
        with Server(folder, "--rotate-size", "2KiB", "--keep-size", "2kB") as server, server.connect() as client:
            # The first ones may come before the room is made.
            end = time.monotonic() + 10
            status = 0
            while status != 200 and time.monotonic() < end:
                _, status = ledger.event(client)
            report.check(f"{name}: with --keep-size events get 200 again", status == 200)
            unfinished(folder)
            report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
        left = [path.name for path in folder.glob("events-*")]
        report.check(f"{name}: the oldest went first", before[0] not in left and len(left) < len(before), f"{sorted(left)}")
