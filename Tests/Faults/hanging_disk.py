# SPDX-License-Identifier: MIT
#
# A disk that hangs: fdatasync takes 30 s. Calls are answered meanwhile, events get 503 before Vonage stops waiting, and a stop keeps its
# time.

import statistics
import threading
import time

from calls import traced
from harness import FLOWS, Gone, Server, examine


def written(path, limit=10):
    """Whether something is in the file within so many seconds."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if path.exists() and path.stat().st_size > 0:
            return True
        time.sleep(0.002)
    return False


def hanging_disk(context):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a disk that hangs"
    # The first sync is that of opening.
    flows = ["--nccos", str(FLOWS)]
    with Server(folder, *flows, strace=traced("fdatasync", "delay_enter=30000000:when=2+", folder / "events.jsonl")) as server:
        with server.connect() as client, server.connect() as other:
            # The file has been opened, and synced for the first time, once the record of this is in it.
            other.answer()
            report.check(f"{name}: the log is open before it hangs", written(folder / "events.jsonl"))
            events = []

            def event():
                began = time.monotonic()
                try:
                    _, status = ledger.event(client)
                except Gone as gone:
                    status = gone
                events.append((status, time.monotonic() - began))

            thread = threading.Thread(target=event)
            thread.start()
            answers, healths = [], []
            with server.connect() as caller:
                status, took, body = ledger.press(caller)
            report.check(f"{name}: an input event gets its NCCO after {took * 1000:.0f} ms (limit 100 ms)",
                         status == 200 and took < 0.1 and body.startswith(b'[{"action":"talk","text":"Connecting'), f"{status} {body[:80]}")
            end = time.monotonic() + 11
            while thread.is_alive() and time.monotonic() < end:
                answers.append(other.answer())
                began = time.monotonic()
                health = other.health()
                healths.append((health, time.monotonic() - began))
                time.sleep(0.1)
            thread.join(10)
            status, took = events[0] if events else ("nothing", 0)
            report.check(f"{name}: an event gets 503 after 9 s", status == 503 and 8.5 <= took <= 10.5, f"{status} after {took:.1f} s")
            report.check(f"{name}: answers take {statistics.median(answers) * 1000:.1f} ms meanwhile (limit 50 ms)",
                         statistics.median(answers) < 0.05 and len(answers) > 20, f"{len(answers)} answers")
            report.check(f"{name}: health answers at once", statistics.median(t for _, t in healths) < 0.05)
            report.check(f"{name}: health is 200 and says degraded", healths[-1][0] == '200 {"status":"degraded"}', healths[-1][0])
            began = time.monotonic()
            code = server.stop(limit=12)
            took = time.monotonic() - began
            report.check(
                f"{name}: SIGTERM ends it within 8 s", code == 0 and took < 9.5, f"exit code {code} after {took:.1f} s: {server.line}")
    with Server(folder) as server, server.connect() as client:
        report.check(f"{name}: the next start is well", ledger.event(client)[1] == 200 and server.stop() == 0)
    # It was written, and may have been synced after all.
    report.sound(f"{name}: the log is whole", examine(folder, ledger, refused_may_be_kept=True))
