# SPDX-License-Identifier: MIT
#
# Faults at single system calls, put there by strace: late syncs, failing syncs and writes, short writes, and SIGKILL at each call of a
# kind. strace counts calls for each thread; the log has one thread at a time, so the K-th call of the log's file is nearly always the one
# meant.

import itertools
import signal
import statistics
import threading
import time

from harness import Gone, Server, examine


def traced(call, what, path=None):
    """Flags of strace that put a fault there."""
    return ["-e", f"trace={call}", *(["-P", str(path)] if path else []), "-e", f"inject={call}:{what}"]


def late_sync(context):
    """200 comes after the sync, and nobody else waits for it."""
    report, folder, ledger = context.report, context.folder(), context.ledger()
    with Server(folder, strace=traced("fdatasync", "delay_enter=300000", folder / "events.jsonl")) as server:
        with server.connect() as client, server.connect() as other:
            ledger.event(client)
            took, answers = [], []

            def event():
                began = time.monotonic()
                _, status = ledger.event(client)
                took.append((status, time.monotonic() - began))

            for _ in range(3):
                thread = threading.Thread(target=event)
                thread.start()
                time.sleep(0.05)
                while thread.is_alive() and len(answers) < 100:
                    answers.append(other.answer())
                thread.join()
        report.check("fdatasync takes 300 ms: no event is answered sooner", all(s == 200 and t >= 0.3 for s, t in took), f"{took}")
        middle = statistics.median(answers)
        report.check(f"meanwhile answers take {middle * 1000:.1f} ms (limit 50 ms)", middle < 0.05, f"{middle * 1000:.0f} ms")
    report.sound("and every event is there", examine(folder, ledger, tail_may_be_torn=True))


def early_stop(context):
    """SIGTERM to a server that answers already, on a system that is slow to say where signals go."""
    report, folder, ledger = context.report, context.folder(), context.ledger()
    with Server(folder, strace=traced("rt_sigaction", "delay_enter=300000")) as server, server.connect() as client:
        report.check("a server that has just begun keeps an event", ledger.event(client)[1] == 200)
        report.check("and SIGTERM ends it with 0", server.stop(limit=5) == 0, f"it was lost: {server.line}")


def failures(context):
    """A call fails once, or in a row; then all goes on."""
    first = (2, 3, 5) if context.options.quick else (1, 2, 3, 4, 5, 8)
    # What fails, how, whether the event hit is refused, whether the file is left for ever.
    cases = [
        ("fdatasync", "error=EIO", True, True), ("fdatasync", "error=EINTR", True, True), ("fdatasync", "error=ENOSPC", True, True),
        ("write", "error=ENOSPC", True, False), ("write", "error=EDQUOT", True, False), ("write", "error=EIO", True, True),
        ("write", "error=EINTR", False, False),
    ]
    for (call, fault, is_refused, is_sealed), place in itertools.product(cases, first):
        one_failure(context, call, fault, place, is_refused, is_sealed)
    for call in ("fdatasync", "write"):
        failures_in_a_row(context, call)
    for place in first:
        swallowed(context, place)


def one_failure(context, call, fault, place, is_refused, is_sealed):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = f"{call} {fault} at call {place}"
    with Server(folder, strace=traced(call, f"{fault}:when={place}", folder / "events.jsonl")) as server, server.connect() as client:
        statuses = ledger.statuses(client, 10)
        # The first sync is that of opening: it hits no event, or the first.
        opening = call == "fdatasync" and place == 1
        wanted = 0 if not is_refused else 1
        refused = statuses.count(503)
        report.check(
            f"{name}: {'one event is' if wanted else 'no event is'} refused with 503, the others get 200",
            set(statuses) <= {200, 503} and (refused == wanted or (opening and refused == 0)), f"got {statuses}: {server.line}")
        report.check(f"{name}: health is well again", client.health() == '200 {"status":"ok"}', client.health())
        report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0, server.line)
    sealed = list(folder.glob("events-*.jsonl*"))
    # Without a line in it the file is removed instead.
    lines_before = place - 1 if call == "write" else place - 2
    wanted = 1 if is_sealed and lines_before > 0 else 0
    report.check(f"{name}: {'the file is sealed' if wanted else 'no file is left behind'}", len(sealed) == wanted, f"{sealed}")
    report.sound(f"{name}: the log is whole", examine(folder, ledger), server.line)


def failures_in_a_row(context, call):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    error = "EIO" if call == "fdatasync" else "ENOSPC"
    name = f"{call} fails with {error} from call 3 to 6"
    with Server(folder, strace=traced(call, f"error={error}:when=3..6", folder / "events.jsonl")) as server, server.connect() as client:
        before = ledger.statuses(client, 2 if call == "write" else 1)
        during = ledger.statuses(client, 1)
        health = client.health()
        answers = [client.answer() for _ in range(3)]
        after = ledger.statuses(client, 12)
        report.check(f"{name}: 200 before, 503 meanwhile, 200 again", set(before) == {200} and during == [503] and after[-4:] == [200] * 4,
                     f"{before} {during} {after}: {server.line}")
        report.check(f"{name}: health is 200 and says degraded", health == '200 {"status":"degraded"}', health)
        report.check(f"{name}: answers go on", statistics.median(answers) < 0.05, f"{answers}")
        server.stop()
    report.sound(f"{name}: the log is whole", examine(folder, ledger), server.line)


def swallowed(context, place):
    """A disk that says 40 bytes are written and has none of them: that event is lost, and nothing else may be."""
    report, folder, ledger = context.report, context.folder(), context.ledger()
    with Server(folder, strace=traced("write", f"retval=40:when={place}", folder / "events.jsonl")) as server, server.connect() as client:
        statuses = ledger.statuses(client, 8)
        server.stop()
    with Server(folder) as server, server.connect() as client:
        statuses += ledger.statuses(client, 1)
        server.stop()
    report.check(f"write {place} swallows 40 bytes: events go on", statuses[place:] == [200] * (9 - place), f"{statuses}")
    report.sound(f"write {place} swallows 40 bytes: nothing but that event is lost", examine(folder, ledger, exempt=[place]), server.line)


def killed_at_each_call(context):
    """SIGKILL on entering the K-th call, for each K until none is hit; each time the next start must find everything."""
    for call in ("fdatasync", "write", "pwrite64", "ftruncate", "rename,renameat,renameat2", "openat", "unlink,unlinkat", "fsync"):
        killed_at(context, call)


def killed_at(context, call):
    report = context.report
    name = call.partition(",")[0]
    # So that files are sealed, or removed, at all: a sync fails, that of the second event after the four of recovery; or, for a file
    # without lines, that of opening a new one.
    failing = [] if name == "fdatasync" else ["-e", f"inject=fdatasync:error=EIO:when={2 if name == 'unlink' else 6}"]
    hits, misses, kept, problems, line = 0, 0, 0, [], ""
    for place in range(1, 81):
        folder, ledger = context.folder(), context.ledger()
        if name not in ("unlink", "fsync"):
            events_of_before(folder, ledger)
        strace = ["-e", f"trace={call},fdatasync", "-e", f"inject={call}:signal=SIGKILL:when={place}", *failing]
        with Server(folder, strace=strace) as server:
            line = server.line
            try:
                with server.connect() as client:
                    ledger.statuses(client, 6)
                    client.answer()
            except Gone:
                pass
            code = server.stop()
        is_hit = code in (-signal.SIGKILL, 128 + signal.SIGKILL)
        hits += is_hit
        misses = 0 if is_hit else misses + 1
        problems += [f"K = {place}: {problem}" for problem in next_start(ledger, folder)]
        kept += len(ledger.kept)
        # The count is for each thread, so one miss may be chance.
        if problems or misses == 2:
            break
    report.sound(f"SIGKILL at each {name}: {hits} places, {kept} events answered 200 are there once", problems, line)
    report.check(f"SIGKILL at each {name}: some place was hit, and then none", hits > 0 and (misses == 2 or problems))


def events_of_before(folder, ledger):
    """A log that a crash left with half a line at its end, so that recovery, which copies and cuts, is killed too."""
    with Server(folder) as server, server.connect() as client:
        ledger.statuses(client, 3)
        server.stop()
    with open(folder / "events.jsonl", "ab") as log:
        log.write(b'{"seq":99,"at":"2026-11-30T10:00:00.000Z","kind":"ev')


def next_start(ledger, folder):
    problems = []
    with Server(folder) as server:
        try:
            with server.connect() as client:
                _, status = ledger.event(client)
            if status != 200:
                problems.append(f"after it an event got {status}")
        except Gone as gone:
            problems.append(f"after it the server was gone: {gone}")
        if server.stop() != 0:
            problems.append("after it the server did not end in order")
    return problems + examine(folder, ledger)
