#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Breaks the machine under a running server and checks what it promised: an event answered with 200 is in the log once, byte for byte,
# whatever is killed, full, failing or hanging; and calls are answered meanwhile, also while somebody attacks the server's TLS.
#
#   Tests/Faults/run.py [SCENARIO…] [--quick] [--rounds N] [--seed N] [--binary FILE]
#
# Needs root, strace and openssl. It runs in process and mount namespaces of its own, so no process and no mount can outlive it. Every wait is
# bounded. A line a check; the last line counts them; exit code 1 where one failed. The folder of a failed run is kept and named.

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from calls import early_stop, failures, killed_at_each_call, late_sync
from closing import failing_to_close, full_disk_of_closed_files, killed_while_closing, killed_while_compressing
from full_disk import file_size_limit, full_disk, full_from_the_start
from hanging_disk import hanging_disk
from harness import Context, Report, Server
from kill_loop import kill_loop, kill_loop_rotating
from power_loss import power_loss
from tls import (broken_tls, burst_of_handshakes, half_open_handshakes, idle_connections, many_handshakes, slow_handshakes,
                 stalled_handshakes)

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = {
    "kill": [kill_loop, kill_loop_rotating],
    "calls": [late_sync, failures],
    "stop": [early_stop],
    "kill-at-call": [killed_at_each_call],
    "closing": [killed_while_closing, killed_while_compressing, failing_to_close, full_disk_of_closed_files],
    "full": [full_disk, full_from_the_start, file_size_limit],
    "power": [power_loss],
    "hang": [hanging_disk],
    "tls": [slow_handshakes, stalled_handshakes, idle_connections, half_open_handshakes, burst_of_handshakes, broken_tls,
            many_handshakes],
}


def main():
    parser = argparse.ArgumentParser(description="Breaks the machine under a running server and checks what it promised.")
    parser.add_argument("scenario", nargs="*", help="of " + ", ".join(SCENARIOS) + "; all where none is named")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and places")
    parser.add_argument("--rounds", type=int, help="kills under load (100, with --quick 25)")
    parser.add_argument("--seed", type=int, help="of all random choices; printed")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/switchboard"))
    parser.add_argument("--folder", help="where logs go (a temporary folder)")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.scenario if name not in SCENARIOS]
    if unknown:
        parser.error(f"no such scenario: {unknown[0]}; there are {', '.join(SCENARIOS)}")
    if options.inside:
        return inside(options)
    if os.geteuid() != 0:
        parser.error("run it as root: it mounts and makes namespaces")
    missing = [tool for tool in ("strace", "unshare", "mount", "umount", "prlimit", "openssl") if not shutil.which(tool)]
    if missing:
        parser.error(f"{', '.join(missing)} not found (apt-get install strace util-linux mount openssl)")
    if not os.access(options.binary, os.X_OK):
        parser.error(f"no {options.binary}: run swift build -c release, or name one with --binary")
    return outside(options)


def outside(options):
    """Starts itself again in namespaces that end with it."""
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4))
    work = tempfile.mkdtemp(prefix="switchboard-faults-", dir=options.folder)
    command = [
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, *sys.argv[1:],
        "--seed", str(seed), "--binary", os.path.abspath(options.binary), "--inside", work,
    ]
    process = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code = 130
    try:
        code = process.wait(3600)
    finally:
        # With it goes all that it started.
        process.kill()
        process.wait()
        if code == 1:
            print(f"the logs are kept in {work}", file=sys.stderr)
        else:
            shutil.rmtree(work, ignore_errors=True)
    return code


def inside(options):
    Server.binary = options.binary
    options.rounds = options.rounds or (25 if options.quick else 100)
    report = Report()
    context = Context(options, Path(options.inside), report)
    print(f"seed {options.seed}", flush=True)
    for name in options.scenario or SCENARIOS:
        for scenario in SCENARIOS[name]:
            began = time.monotonic()
            try:
                scenario(context)
            except Exception as error:  # noqa: BLE001 - one scenario that breaks must not hide the others
                place = error.__traceback__
                while place.tb_next:
                    place = place.tb_next
                report.check(f"{scenario.__name__} ran to its end", False,
                             f"{type(error).__name__}: {error} ({place.tb_frame.f_code.co_filename}:{place.tb_lineno})")
            print(f"      ({scenario.__name__}: {time.monotonic() - began:.1f} s)", flush=True)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


sys.exit(main())
