#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Measures how fast one call is found in a plain log of 1 GB, beside `grep -F` and `jq 'select(...)'` on the same file, and what memory that takes.
#
# The file is made here with the same numbers each time, read once so that it is in memory, and then searched by each program in turn, round
# after round: what else the machine does meets all of them. A ratio is the median of the ratios of neighbouring runs. All must find the same
# lines. grep runs in the C locale, in which it is fastest. Memory is the peak for the whole file beside that for its first tenth.
#
# Targets are printed and, with --check, asserted.

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NCCO = ('[{"action":"talk","text":"Please wait while we connect you."},{"action":"connect","timeout":45,'
        '"endpoint":[{"type":"app","user":"Alice"}],"from":"%s"},{"action":"talk","text":"Nobody can take your call now."}]')


def moment(milliseconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + ".%03dZ" % (milliseconds % 1000)


def make(path, size):
    """Writes a log of calls with eight lines each; returns the name of one in the middle."""
    numbers = random.Random(7)
    seq = written = 0
    now = 1_796_032_800_000
    wanted = None
    with open(path, "wb") as output:

        def line(at, head, tail):
            nonlocal seq, written
            seq += 1
            text = f'{{"seq":{seq},"at":"{moment(at)}",{head},"signature":"off",{tail}'.encode()
            text += b',"crc":"%08x"}\n' % zlib.crc32(text)
            output.write(text)
            written += len(text)

        while written < size:
            now += numbers.randrange(50)
            call = f"CON-{uuid.UUID(int=numbers.getrandbits(128))}"
            if wanted is None and written > size // 2:
                wanted = call
            legs = [f"{numbers.getrandbits(128):032x}", str(uuid.UUID(int=numbers.getrandbits(128)))]
            caller = f"1202555{numbers.randrange(10000):04}"
            line(now, f'"kind":"answer","call":"{call}","leg":"{legs[0]}","status":null',
                 f'"request":{{"to":"12025550100","from":"{caller}","uuid":"{legs[0]}","conversation_uuid":"{call}",'
                 f'"endpoint_type":"phone"}},"flow":"answer#1 ring-user","ncco":{NCCO % caller},"micros":41')
            ending = '"duration":"12","rate":"0.00720000","price":"0.00144000","network":"US-FIXED","disconnected_by":"user",'
            for leg, status, after, more in [(0, "ringing", 0, ""), (0, "started", 0, ""), (0, "answered", 600, ""), (1, "started", 900, ""),
                                             (1, "answered", 3000, ""), (1, "completed", 13000, ending), (0, "completed", 13500, ending)]:
                direction = "outbound" if leg else "inbound"
                line(now + after + 20, f'"kind":"event","call":"{call}","leg":"{legs[leg]}","status":"{status}"',
                     f'"event":{{"headers":{{}},"from":"{caller}","to":"12025550100","uuid":"{legs[leg]}","conversation_uuid":"{call}",'
                     f'"status":"{status}","direction":"{direction}",{more}"timestamp":"{moment(now + after)}"}}')
    return wanted


def run(arguments):
    """Wall time in seconds, processor time in seconds, and the numbers of the lines found."""
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        process = subprocess.Popen(arguments, stdout=output, env={**os.environ, "LC_ALL": "C"})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"failed with {process.returncode}: {' '.join(arguments)}")
        output.seek(0)
        found = [json.loads(line)["seq"] for line in output]
    return wall, usage.ru_utime + usage.ru_stime, found


def peak(arguments):
    """Peak memory in MiB. What this process itself would be told holds its own memory from before exec, so a small one asks."""
    told = subprocess.run(["time", "-f", "%M", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(told.stderr.split()[-1]) / 1024


def main():
    parser = argparse.ArgumentParser(description="Finds one call in a large log: switchboard events, grep -F and jq.")
    parser.add_argument("--size", type=int, default=1000, help="MB of the log (1000)")
    parser.add_argument("--runs", type=int, default=5, help="rounds (5)")
    parser.add_argument("--binary", help="a switchboard that is built already")
    parser.add_argument("--folder", help="where the log is made (a temporary folder)")
    parser.add_argument("--check", action="store_true", help="exit code 1 where a target is missed")
    options = parser.parse_args()
    missing = [tool for tool in ("grep", "jq", "time") if not shutil.which(tool)]
    if missing:
        parser.error(f"{', '.join(missing)} not found (Debian: apt-get install grep jq time)")
    binary = os.path.abspath(options.binary) if options.binary else None
    if not binary:
        subprocess.run(["swift", "build", "-c", "release", "--product", "switchboard"], cwd=ROOT, check=True, stdout=sys.stderr)
        binary = str(ROOT / ".build/release/switchboard")

    with tempfile.TemporaryDirectory(prefix="switchboard-read-", dir=options.folder) as folder:
        log = os.path.join(folder, "events.jsonl")
        tenth = os.path.join(folder, "tenth")
        call = make(log, options.size * 1_000_000)
        make(tenth, options.size * 100_000)
        with open(log, "rb") as file:
            while file.read(1 << 20):
                pass

        def ours(path):
            return [binary, "events", "tail", "--call", call, "--json", "--unmasked", "--events", path]

        commands = {"ours": ours(log), "grep": ["grep", "-F", call, log],
                    "jq": ["jq", "-c", f'select(.call == "{call}")', log]}
        print(f"{os.path.getsize(log) / 1e6:.0f} MB, {options.runs} rounds, load average {os.getloadavg()[0]:.1f}")
        rounds = []
        for _ in range(options.runs):
            results = {name: run(command) for name, command in commands.items()}
            if len({tuple(result[2]) for result in results.values()}) != 1 or len(results["ours"][2]) != 8:
                raise SystemExit(f"not the same lines: { {name: result[2] for name, result in results.items()} }")
            rounds.append(results)
        for name in commands:
            walls, times = zip(*(results[name][:2] for results in rounds))
            print(f"{name:5} {statistics.median(walls):8.3f} s, {statistics.median(times):8.3f} s of processor time")
        whole, part = (peak(ours(path)) for path in (log, tenth))

        missed = 0

        def target(words, value, wanted, met):
            nonlocal missed
            missed += not met
            print(f"{words}: {value} (target {wanted}) {'met' if met else 'MISSED'}")

        grep = statistics.median(results["grep"][0] / results["ours"][0] for results in rounds)
        jq = statistics.median(results["jq"][0] / results["ours"][0] for results in rounds)
        target("times as fast as grep -F", f"{grep:.2f}", "at least 1", grep >= 1)
        target("times as fast as jq", f"{jq:.1f}", "at least 4", jq >= 4)
        target("memory, the whole log and a tenth of it", f"{whole:.1f} and {part:.1f} MiB", "within 1 MiB", abs(whole - part) <= 1)
    return 1 if missed and options.check else 0


sys.exit(main())
