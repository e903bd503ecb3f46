# SPDX-License-Identifier: MIT
#
# Disks that are full: a file system of 64 KiB, and a limit on the size of files, which gives a true short write and then EFBIG.

import contextlib
import subprocess
import statistics

from harness import Server, examine


@contextlib.contextmanager
def small_disk(path, size="64k"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path):
    """Takes all the room that is left."""
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as filler:
        while True:
            filler.write(bytes(1024))


def until_refused(ledger, client, most=2000):
    statuses = []
    while len(statuses) < most and (not statuses or statuses[-1] == 200):
        statuses.append(ledger.event(client)[1])
    return statuses


def during(report, name, client):
    report.check(f"{name}: health is 200 and says degraded", client.health() == '200 {"status":"degraded"}', client.health())
    answers = [client.answer() for _ in range(20)]
    report.check(f"{name}: answers go on at once", statistics.median(answers) < 0.05, f"{answers}")


def full_disk(context):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a full disk"
    with small_disk(folder):
        (folder / "filler").write_bytes(bytes(48 * 1024))
        with Server(folder) as server, server.connect() as client:
            for number in range(3):
                statuses = until_refused(ledger, client)
                report.check(
                    f"{name}, time {number + 1}: events get 200, then 503", len(statuses) > 1 and statuses[-1] == 503, f"{statuses[-5:]}")
                # The cut gave back the rest of a page.
                fill(folder / "filler")
                ledger.statuses(client, 3, size=4000)
                during(report, f"{name}, time {number + 1}", client)
                report.sound(f"{name}, time {number + 1}: only whole lines are in the log", examine(folder, ledger))
                with open(folder / "filler", "r+b") as filler:
                    # Records of answers that waited go first.
                    filler.truncate(16 * 1024 * (2 - number))
                statuses = ledger.statuses(client, 4, size=100)
                report.check(f"{name}, time {number + 1}: with room events get 200 again", statuses[-3:] == [200] * 3, f"{statuses}")
                report.check(f"{name}, time {number + 1}: health is well again", client.health() == '200 {"status":"ok"}', client.health())
            report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
        report.check(f"{name}: no file was sealed or set aside", len(list(folder.glob("events-*"))) == 0)
        report.sound(f"{name}: the log is whole", examine(folder, ledger))


def full_from_the_start(context):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a disk that is full at the start"
    with small_disk(folder):
        fill(folder / "filler")
        with Server(folder) as server, server.connect() as client:
            statuses = ledger.statuses(client, 3)
            report.check(f"{name}: events get 503", statuses == [503] * 3, f"{statuses}")
            during(report, name, client)
            (folder / "filler").unlink()
            statuses = ledger.statuses(client, 4)
            report.check(f"{name}: with room events get 200", statuses[-3:] == [200] * 3, f"{statuses}")
            report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
        with Server(folder) as server, server.connect() as client:
            report.check(f"{name}: the next start is well", ledger.event(client)[1] == 200 and server.stop() == 0, server.said)
        report.sound(f"{name}: the log is whole", examine(folder, ledger))


def file_size_limit(context):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    name = "a limit of 20,000 bytes a file"
    with Server(folder, prefix=["prlimit", "--fsize=20000:unlimited"]) as server, server.connect() as client:
        statuses = until_refused(ledger, client)
        report.check(f"{name}: events get 200, then 503", len(statuses) > 1 and statuses[-1] == 503, f"{statuses[-5:]}")
        ledger.statuses(client, 2, size=1000)
        during(report, name, client)
        report.sound(f"{name}: only whole lines are in the log", examine(folder, ledger))
        subprocess.run(["prlimit", f"--pid={server.pid}", "--fsize=unlimited"], check=True)
        statuses = ledger.statuses(client, 4)
        report.check(f"{name}: without it events get 200 again", statuses[-3:] == [200] * 3, f"{statuses}")
        report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
    report.sound(f"{name}: the log is whole", examine(folder, ledger))
