# SPDX-License-Identifier: MIT
#
# Power cuts without a power switch. strace records every call that changes the folder, and every answer that left. From that, for a moment
# between any two calls, follows what the disk must hold, what it may hold, and what was promised. States that are legal then are made as
# folders; the server is started on each, and the folder checked.
#
# Must hold: the bytes of a file up to its last good fdatasync, and the names in the folder at its last one. May hold: of what came after,
# any part, cut anywhere, zeroed or noise; later names or earlier ones. One thing is taken from journaling file systems: a shortening of a
# file is on disk once the folder was synced after it.

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import Server, examine, read_line

IGNORED = ("events.lock", "admin-token", "admin-token.new")


@dataclass
class File:
    data: bytes = b""
    synced: bytes = b""


@dataclass
class Disk:
    """The folder as the calls so far made it, and as a power cut must leave it."""

    names: dict = field(default_factory=dict)
    synced_names: dict = field(default_factory=dict)
    open: dict = field(default_factory=dict)

    def apply(self, call, arguments, strings, result, folder):
        """One call that has returned; true where it changed anything."""
        if call == "openat":
            path = Path(strings[-1])
            if result < 0 or path.parent != folder or path.name in IGNORED:
                return False
            is_new = path.name not in self.names
            if is_new:
                self.names[path.name] = File()
            self.open[result] = self.names[path.name]
            return is_new
        if call in ("rename", "renameat", "renameat2"):
            source, target = (Path(s).name for s in strings[-2:])
            if source in IGNORED:
                return False
            if result == 0:
                self.names[target] = self.names.pop(source)
            return result == 0
        if call in ("unlink", "unlinkat"):
            return result == 0 and self.names.pop(Path(strings[-1]).name, None) is not None
        number, path = re.match(r"(\d+)<(.*?)>", arguments).groups()
        path = Path(text(path))
        if path == folder and call in ("fdatasync", "fsync"):
            if result == 0:
                self.synced_names = dict(self.names)
                for file in self.names.values():
                    if file.synced.startswith(file.data):
                        file.synced = file.data
            return result == 0
        if path.parent != folder or path.name in IGNORED or result < 0:
            return False
        file = self.open[int(number)]
        if call == "write":
            file.data += strings[-1].encode("latin-1")[:result]
        elif call == "ftruncate":
            length = int(arguments.rpartition(",")[2])
            file.data = file.data[:length]
        elif call in ("fdatasync", "fsync"):
            file.synced = file.data
        return True

    def state(self, random):
        """A folder that a power cut may leave: contents by name."""
        names = random.choice([self.synced_names, self.names])
        return {name: after_cut(file, random) for name, file in names.items()}


def after_cut(file, random):
    data, synced = file.data, file.synced
    if data == synced:
        return data
    if not data.startswith(synced):
        return random.choice([data, synced])
    rest = data[len(synced):]
    first, second = sorted(random.randrange(len(rest) + 1) for _ in range(2))
    return synced + random.choice([
        b"",
        rest,
        rest[:first],
        bytes(len(rest)),
        rest[:first] + bytes(len(rest) - first),
        bytes(first) + rest[first:],
        rest[:first] + bytes(second - first) + rest[second:],
        rest[:first] + random.randbytes(second - first) + rest[second:],
        random.randbytes(len(rest)),
    ])


def text(hexadecimal):
    """What strace -xx wrote as \\x2f\\x74…"""
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), hexadecimal)


def calls(trace):
    """Each call as (returned, name, arguments, strings, result), once when it begins and once when it has returned."""
    begun = {}
    for line in trace.read_text().splitlines():
        thread, _, rest = line.split(maxsplit=2)
        if rest.startswith("<... "):
            name, _, end = rest[5:].partition(" resumed>")
            rest = begun.pop(thread, f"{name}(") + end
        elif rest.endswith(" <unfinished ...>"):
            begun[thread] = rest[: -len(" <unfinished ...>")]
            name, _, arguments = begun[thread].partition("(")
            yield False, name, arguments, [], 0
            continue
        else:
            name, _, arguments = rest.partition("(")
            yield False, name, arguments, [], 0
        match = re.match(r"(\w+)\((.*)\) += (-?\d+)", rest)
        if match:
            yield True, match[1], match[2], [text(s) for s in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', match[2])], int(match[3])


def moments(trace, folder, disk, ports, promised):
    """After each call that changed something: the disk and what had been promised by then. `ports` are the events of each client."""
    answered = {}
    promised = set(promised)
    for returned, name, arguments, strings, result in calls(trace):
        if name == "sendto":
            peer = re.match(r"\d+<TCP:\[[^]]*->127\.0\.0\.1:(\d+)\]>", arguments)
            # What begins to leave may have arrived.
            if not returned and peer and int(peer[1]) in ports:
                count = answered.get(int(peer[1]), 0)
                if text(arguments.partition('"')[2][:48]).startswith("HTTP/1.1 200"):
                    promised.add(ports[int(peer[1])][count])
                answered[int(peer[1])] = count + 1
        elif returned and disk.apply(name, arguments, strings, result, folder):
            yield name, disk, promised


def record(context, folder, ledger, clients, events, *faults, settings=(), until=lambda: True):
    """Runs a load under strace; the trace, and the events of each client by its port. It ends once `until` holds, or after 30 s."""
    trace = Path(f"{folder}.trace")
    names = "openat,write,ftruncate,fdatasync,fsync,rename,renameat,renameat2,unlink,unlinkat,sendto"
    ports = {}
    flags = ["-ttt", "-xx", "-yy", "-s", "1000000", "-o", str(trace), "-e", f"trace={names}", *faults]
    with Server(folder, *settings, strace=flags) as server:
        def post():
            with server.connect() as client:
                # The first 200 is that of connecting.
                mine = ports.setdefault(client.port, [None])
                for number in range(events):
                    mine.append(ledger.event(client)[0])
                    if number % 3 == 0:
                        client.answer()
                        # An answer is a 200 too.
                        mine.append(None)
        threads = [threading.Thread(target=post) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        deadline = time.monotonic() + 30
        while not until() and time.monotonic() < deadline:
            time.sleep(0.005)
        context.report.check(f"the recorded server ended in order ({clients * events} events)", server.stop() == 0, server.line)
    return trace, ports


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in IGNORED}


def opened(files):
    disk = Disk(names={name: File(data, data) for name, data in files.items()})
    disk.synced_names = dict(disk.names)
    return disk


def power_loss(context):
    report, ledger = context.report, context.ledger()
    share = 25 if context.options.quick else 150

    folder = context.folder()
    trace, ports = record(context, folder, ledger, clients=6, events=12)
    before, kept = contents(folder), set(ledger.kept)
    judge(context, "power cut under load", folder, trace, ports, opened({}), ledger, set(), share)

    # What a crash left is recovered, and the power fails again.
    before["events.jsonl"] += b'{"seq":99,"at":"2026-11-30T10:00:00.000Z","kind":"ev' + bytes(3000)
    folder = context.folder()
    for name, data in before.items():
        (folder / name).write_bytes(data)
    trace, ports = record(context, folder, ledger, clients=1, events=4)
    judge(context, "power cut during recovery", folder, trace, ports, opened(before), ledger, kept, share)

    # A sync fails, the file is sealed, and the power fails too.
    ledger, folder = context.ledger(), context.folder()
    trace, ports = record(context, folder, ledger, 2, 8, "-e", "inject=fdatasync:error=EIO:when=5")
    judge(context, "power cut around a sealed file", folder, trace, ports, opened({}), ledger, set(), share)

    # Files are closed and compressed at nearly every moment.
    ledger, folder = context.ledger(), context.folder()
    # The thread that compresses has a low priority: on a busy machine it comes after the last event.
    def compressed():
        return len(list(folder.glob("events-*.gz"))) > 3
    trace, ports = record(context, folder, ledger, 2, 10, settings=["--rotate-size", "1KiB"], until=compressed)
    context.report.check("files were compressed under the recording", compressed())
    judge(context, "power cut while files are closed", folder, trace, ports, opened({}), ledger, set(), share)


def judge(context, name, folder, trace, ports, disk, ledger, promised, share):
    """Picks moments of the trace and starts the server on a state of each."""
    report, random = context.report, context.random
    states, kept = [], set()
    for call, now, kept in moments(trace, folder, disk, ports, promised):
        for _ in range(6):
            states.append((call, now.state(random), set(kept) - {None}))
    # The process may have ended in the middle of a call for an unfinished file, whose outcome the trace does not tell; it is of no use anyway.
    final = {path: file.data for path, file in disk.names.items() if not path.endswith(".part")}
    found = {path: data for path, data in contents(folder).items() if not path.endswith(".part")}
    report.check(f"{name}: the trace explains the folder", final == found, f"{sorted(final)} {sorted(found)}")
    told = {number for events in ports.values() for number in events if number in ledger.kept}
    report.check(f"{name}: the trace holds all answers", set(kept) - {None} == set(promised) | told)
    problems, bad = [], 0
    chosen = random.sample(states, min(share, len(states)))
    for call, state, kept in chosen:
        cut = context.folder()
        for path, data in state.items():
            (cut / path).write_bytes(data)
        found = []
        with Server(cut) as server, server.connect() as client:
            number, status = ledger.event(client)
            if status != 200:
                found.append(f"an event got {status}")
            client.answer()
            if server.stop() != 0:
                found.append("the server did not end in order")
        # Who was refused in the end may be found: the power may have failed between the write and the refusal.
        found += examine(cut, ledger, kept=kept | {number}, refused_may_be_kept=True)
        problems += [f"after {call}: {problem} (kept in {cut})" for problem in found]
        bad += bool(found)
    torn = sum(1 for _, state, _ in chosen if any(not is_whole(data) for name, data in state.items() if ".gz" not in name))
    report.sound(f"{name}: {len(chosen)} states, {torn} of them torn, all as promised", problems, f"{bad} states are bad")


def is_whole(data):
    lines = data.split(b"\n")
    return not lines.pop() and all(read_line(line) for line in lines)
