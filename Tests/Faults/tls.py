# SPDX-License-Identifier: MIT
#
# Clients that break TLS: too slow, half way, damaged, or without end. None of them takes anything from another connection, nothing of them
# stays behind, and handshakes leave no memory behind.
#
# The handshakes are those of Python's `ssl`, in memory, so that each byte of them goes out as a scenario wants it. What comes behind one
# is encrypted here, by the keys that `ssl` logs, since no library sends what an attacker does: KeyUpdates, alerts and empty records without end.

import contextlib
import ctypes
import functools
import hashlib
import hmac
import itertools
import multiprocessing
import os
import random
import re
import resource
import select
import socket
import ssl
import struct
import subprocess
import threading
import time
from pathlib import Path

from harness import ANSWER, Client, Gone, Server

REQUEST = f"GET {ANSWER} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
KEY_UPDATE = b"\x18\0\0\1"
VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
# What an answer may take of the others' trouble, at the 99th percentile and at most: above a loaded machine's, below what a caller hears.
P99, MOST = 0.1, 0.5
# Where a handshake is slow (the machine, or the key) so many of them bound the 99th percentile: a turn of the server's has eight of them, and an
# answer waits for two or three turns. Where others get no turn in between it waits for all of them.
P99_IN_HANDSHAKES = 25


class Secure:
    """A folder with a certificate, and contexts for clients that trust it."""

    def __init__(self, context, key=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
        self.folder = context.folder()
        self.work = Path(f"{self.folder}.tls")
        self.work.mkdir(mode=0o700)
        self.certificate, self.key = self.work / "cert.pem", self.work / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-keyout", self.key, "-out", self.certificate],
            check=True, capture_output=True, timeout=30)

    def context(self, version=None):
        context = ssl.create_default_context(cafile=self.certificate)
        if version:
            context.minimum_version = context.maximum_version = version
        return context

    def server(self, *flags):
        return Server(self.folder, "--tls-cert", self.certificate, "--tls-key", self.key, *flags, tls=self.context())

    def token(self):
        return (self.folder / "admin-token").read_text().strip()


def metric(client, secure, name):
    _, body = client.request("GET", "/metrics", token=secure.token())
    return int(re.search(rf"^switchboard_{name} (\d+)$".encode(), body, re.M)[1])


def soon(read, wanted, limit=10):
    """What is read at last: as wanted, or what it was after so many seconds."""
    end = time.monotonic() + limit
    while not wanted(found := read()) and time.monotonic() < end:
        select.select([], [], [], 0.01)
    return found


def sockets(pid):
    """How many sockets the process has open."""
    count = 0
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            count += os.readlink(path).startswith("socket:")
    return count


def resident(pid):
    """KiB of memory."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


class Witness:
    """Another process that asks for answers on a connection of its own, and now and then on a new one, as long as the context lasts."""

    def __init__(self, server):
        self.server = server
        self.times, self.handshakes, self.trouble = [], [], None

    def __enter__(self):
        self.here, there = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=self.run, args=(there,), daemon=True)
        self.process.start()
        there.close()
        self.here.recv()
        return self

    def run(self, pipe):
        times, handshakes, trouble = [], [], None
        try:
            with Client(self.server.port, tls=self.server.tls) as client:
                client.answer()
                pipe.send("ready")
                # A percentile of a few is none, and of these one may be the machine's own trouble.
                while len(times) < 200 or not pipe.poll(0.002):
                    times.append(client.answer())
                    if len(times) % 20 == 0:
                        began = time.monotonic()
                        with Client(self.server.port, tls=self.server.tls) as other:
                            other.answer()
                        handshakes.append(time.monotonic() - began)
        except (Gone, AssertionError) as error:
            trouble = str(error) or type(error).__name__
        pipe.send((times, handshakes, trouble))

    def __exit__(self, *_):
        with contextlib.suppress(OSError, EOFError):
            self.here.send("enough")
            self.times, self.handshakes, self.trouble = self.here.recv()
        self.process.join(20)
        self.process.kill()

    @property
    def p99(self):
        """The limit at the 99th percentile, in seconds: the fastest handshake is what one takes by itself."""
        return max(P99, P99_IN_HANDSHAKES * min(self.handshakes, default=0))

    @property
    def is_well(self):
        return not self.trouble and percentile(self.times) <= self.p99 and max(self.times) <= MOST

    def __str__(self):
        if not self.times:
            return f"no answer: {self.trouble}"
        new = f", with a handshake {min(self.handshakes) * 1000:.1f} ms" if self.handshakes else ""
        trouble = f", {self.trouble}" if self.trouble else ""
        times = f"p99 {percentile(self.times) * 1000:.1f} ms, most {max(self.times) * 1000:.1f} ms"
        return f"{len(self.times)} answers, {times}{new}{trouble} (limits {self.p99 * 1000:.0f} and {MOST * 1000:.0f} ms)"


def percentile(times):
    return sorted(times)[len(times) * 99 // 100]


class Attacker:
    """A connection whose every byte goes out by hand."""

    def __init__(self, server, secure, version=ssl.TLSVersion.TLSv1_3):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = secure.context(version)
        self.log = secure.work / "keys"
        context.keylog_filename = self.log
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.hello = self.flight()
        self.is_done = False

    def flight(self):
        """What the handshake has to send next."""
        try:
            self.tls.do_handshake()
            self.is_done = True
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    def receive(self):
        received = self.socket.recv(65536)
        if not received:
            raise Gone("closed")
        self.incoming.write(received)

    def answer_of(self, hello):
        """Sends a ClientHello and reads on until there is something to say to it."""
        self.socket.sendall(hello)
        while True:
            self.receive()
            flight = self.flight()
            if flight or self.is_done:
                return flight

    def handshake(self, send=None):
        """To its end; `send` sends each flight."""
        send = send or self.socket.sendall
        send(self.hello)
        while not self.is_done:
            self.receive()
            if flight := self.flight():
                send(flight)
        if self.tls.version() == "TLSv1.3":
            self.take_keys()

    def take_keys(self):
        """The keys by which the next record is encrypted (RFC 8446 §7); of OpenSSL's suites the first is chosen."""
        if self.tls.cipher()[0] != "TLS_AES_256_GCM_SHA384":
            raise AssertionError(f"{self.tls.cipher()[0]} is not what is encrypted here")
        random_bytes = self.hello[11:43].hex()
        self.secret = bytes.fromhex(re.search(rf"CLIENT_TRAFFIC_SECRET_0 {random_bytes} (\w+)", self.log.read_text())[1])
        self.use_secret()

    def use_secret(self):
        self.gcm = AES256GCM(expand(self.secret, b"key", 32))
        self.vector = int.from_bytes(expand(self.secret, b"iv", 12), "big")
        self.count = 0

    def record(self, kind, content):
        """An encrypted record of TLS 1.3."""
        inner = content + bytes([kind])
        head = struct.pack(">BHH", DATA, 0x0303, len(inner) + 16)
        sealed = self.gcm.seal((self.vector ^ self.count).to_bytes(12, "big"), head, inner)
        self.count += 1
        return head + sealed

    def key_update(self, wants_one):
        sent = self.record(HANDSHAKE, KEY_UPDATE + bytes([wants_one]))
        self.secret = expand(self.secret, b"traffic upd", 48)
        self.use_secret()
        return sent

    def asks(self):
        """Whether a request on this connection is answered."""
        self.socket.sendall(self.record(DATA, REQUEST))
        return self.answer().startswith(b"HTTP/1.1 200 ")

    def answer(self):
        """The head of an answer, and what came with it."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            try:
                piece = self.tls.read()
                if not piece:
                    raise Gone("closed in order")
                answer += piece
            except ssl.SSLWantReadError:
                self.receive()
        return answer

    def send(self, sent):
        """As far as the server takes it."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(sent)

    def is_closed(self, limit=5):
        """Whether the server closes it; what it says before is read."""
        end = time.monotonic() + limit
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                if not self.socket.recv(65536):
                    return True
            except ConnectionError:
                return True
            except TimeoutError:
                break
        return False

    def seconds_until_closed(self, began, next_bytes, pause=0.05, limit=8):
        """With something sent now and then meanwhile; None where it is open still at the limit."""
        while time.monotonic() < began + limit:
            with contextlib.suppress(ConnectionError):
                self.socket.send(next_bytes())
            if select.select([self.socket], [], [], pause)[0] and self.is_closed(0.05):
                return time.monotonic() - began
        return None

    def reset(self):
        with contextlib.suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def expand(secret, label, length):
    """HKDF-Expand-Label of RFC 8446 §7.1 without a context, for what fits into one block of SHA-384."""
    label = b"tls13 " + label
    info = struct.pack(">HB", length, len(label)) + label + b"\0"
    return hmac.digest(secret, info + b"\1", hashlib.sha384)[:length]


@functools.cache
def libcrypto():
    library = ctypes.CDLL("libcrypto.so.3")
    for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


class AES256GCM:
    """OpenSSL's, by its C functions: Python has none of its own."""

    def __init__(self, key):
        self.library, self.key = libcrypto(), key
        self.context = ctypes.c_void_p(self.library.EVP_CIPHER_CTX_new())

    def seal(self, nonce, associated, plain):
        library, context = self.library, self.context
        sealed, tag, length = ctypes.create_string_buffer(len(plain) + 16), ctypes.create_string_buffer(16), ctypes.c_int()
        good = (
            library.EVP_EncryptInit_ex(context, ctypes.c_void_p(library.EVP_aes_256_gcm()), None, self.key, nonce),
            library.EVP_EncryptUpdate(context, None, ctypes.byref(length), associated, len(associated)),
            library.EVP_EncryptUpdate(context, sealed, ctypes.byref(length), plain, len(plain)),
            library.EVP_EncryptFinal_ex(context, None, ctypes.byref(length)),
            # EVP_CTRL_AEAD_GET_TAG
            library.EVP_CIPHER_CTX_ctrl(context, 0x10, 16, tag),
        )
        if good != (1,) * 5:
            raise AssertionError(f"OpenSSL did not encrypt: {good}")
        return sealed.raw[:len(plain)] + tag.raw

    def __del__(self):
        self.library.EVP_CIPHER_CTX_free(self.context)


def plain_record(kind, content, version=0x0303):
    return struct.pack(">BHH", kind, version, len(content)) + content


def slow_handshakes(context):
    """Each byte in a segment of its own is slow and no mistake."""
    report, secure = context.report, Secure(context)
    with secure.server() as server, server.connect():
        for version in VERSIONS:
            name = f"a {version.name} handshake a byte at a time"
            with Attacker(server, secure, version) as client:

                def a_byte_at_a_time(sent):
                    for byte in sent:
                        client.socket.send(bytes([byte]))

                client.handshake(a_byte_at_a_time)
                report.check(f"{name} succeeds", client.tls.version() == version.name.replace("_", "."), client.tls.version())
                client.tls.write(REQUEST)
                a_byte_at_a_time(client.outgoing.read())
                answer = client.answer()
                report.check(f"{name}: a request a byte at a time is answered", answer.startswith(b"HTTP/1.1 200 "), f"{answer[:80]}")


def stalled_handshakes(context):
    """Whoever stops half way is an open connection until the limit, and then none."""
    report, secure = context.report, Secure(context)

    def silent(client):
        pass

    def half_a_hello(client):
        client.socket.sendall(client.hello[:len(client.hello) // 2])

    def no_finished(client):
        client.answer_of(client.hello)

    def half_a_finished(client):
        finished = client.answer_of(client.hello)
        client.socket.sendall(finished[:len(finished) // 2])

    def dribbling(client):
        pass

    with secure.server("--handshake-timeout", "1s") as server, server.connect() as admin:
        for version in VERSIONS:
            for stall in (silent, half_a_hello, no_finished, half_a_finished, dribbling):
                name = f"{version.name}, {stall.__name__.replace('_', ' ')}"
                timeouts = metric(admin, secure, "http_timeouts_total")
                with Attacker(server, secure, version) as client:
                    began, dribble = time.monotonic(), iter(client.hello)
                    stall(client)
                    is_open = soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 2, 0.5)
                    report.check(f"{name}: it counts as an open connection", is_open == 2, f"{is_open} are open")
                    # A byte now and then does not make the time longer.
                    closed_after = client.seconds_until_closed(began, lambda: bytes([next(dribble)]) if stall is dribbling else b"")
                report.check(f"{name}: it is closed after the limit of 1 s", closed_after is not None and 0.9 <= closed_after <= 3,
                             f"after {closed_after} s")
                is_open = soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 1)
                more = metric(admin, secure, "http_timeouts_total") - timeouts
                report.check(f"{name}: then it is counted out, as one more time limit", (is_open, more) == (1, 1),
                             f"{is_open} open, {more} more")
        with server.connect() as client:
            client.socket.settimeout(4)
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                client.answer()
                select.select([], [], [], 0.1)
            report.check("a connection that is in use outlives the handshake limit", client.health().startswith("200 "))


def idle_connections(context):
    """What TLS itself sends is no use of a connection: the idle time ends all the same, and so does that of a request's head."""
    report, secure = context.report, Secure(context)
    with secure.server("--idle-timeout", "1s", "--head-timeout", "1s") as server, server.connect():
        for name, request in (("an idle connection", b""), ("half a request", REQUEST[:20])):
            with Attacker(server, secure) as client:
                client.handshake()
                began = time.monotonic()
                client.socket.sendall(client.record(DATA, request) if request else b"")
                # So few that a limit to their number is not reached.
                sent = itertools.cycle([lambda: client.key_update(False), lambda: client.record(DATA, b"")])
                closed_after = client.seconds_until_closed(began, lambda: next(sent)(), pause=0.2)
            report.check(f"{name} with KeyUpdates and empty records is closed after its 1 s", closed_after and 0.9 <= closed_after <= 3,
                         f"after {closed_after} s")


def half_open_handshakes(context):
    """A thousand that stop in the middle of a ClientHello, while others are answered."""
    report, secure = context.report, Secure(context)
    name, count = "1,000 half-open handshakes", 1000
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        with secure.server("--handshake-timeout", "4s") as server, server.connect() as admin:
            hello = Attacker(server, secure)
            hello.socket.close()
            half = hello.hello[:len(hello.hello) // 2]
            soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 1)
            idle, memory = sockets(server.pid), resident(server.pid)
            with contextlib.ExitStack() as stack, Witness(server) as witness:
                began, waiting = time.monotonic(), {}
                poll = select.poll()
                for _ in range(count):
                    client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
                    client.sendall(half)
                    waiting[client.fileno()] = client
                    poll.register(client, select.POLLIN)
                took = time.monotonic() - began
                is_open = soon(lambda: metric(admin, secure, "connections_open"), lambda found: found >= count, 2)
                report.check(f"{name} count as open connections", is_open >= count, f"{is_open} after {took:.1f} s")
                each = (resident(server.pid) - memory) / count
                # All are closed at the limit.
                while waiting and time.monotonic() < began + took + 10:
                    for descriptor, _ in poll.poll(100):
                        with contextlib.suppress(ConnectionError):
                            if waiting[descriptor].recv(4096):
                                continue
                        poll.unregister(descriptor)
                        del waiting[descriptor]
            report.check(f"{name}: others are answered meanwhile: {witness}", witness.is_well)
            report.check(f"{name} are closed at the limit of 4 s", not waiting, f"{len(waiting)} are left")
            report.check(f"{name} take {each:.0f} KiB each (limit 100)", each <= 100)
            left = soon(lambda: sockets(server.pid), lambda found: found <= idle)
            report.check(f"{name}: no descriptor is left of them", left <= idle, f"{left} sockets, {idle} before")
            report.check(f"{name}: SIGTERM ends it with 0", server.stop() == 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def burst_of_handshakes(context):
    """Three hundred that come at one moment, to a key whose every signature takes milliseconds: together more than a second."""
    report, secure = context.report, Secure(context, ("rsa:4096",))
    name, count = "300 handshakes at once", 300
    with secure.server() as server, server.connect(), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Attacker(server, secure)) for _ in range(count)]
        with Witness(server) as witness:
            for client in clients:
                client.socket.sendall(client.hello)
            answered = sum(bool(client.socket.recv(1)) for client in clients)
        report.check(f"{name} are all answered", answered == count, f"{answered} are")
        report.check(f"{name}: others are answered meanwhile: {witness}", witness.is_well)


def many(record, count):
    return b"".join(record() for _ in range(count))


def attacks(chance, is_quick):
    """(name, what it does to a connection, whether the server must close it)."""
    flood = 2_000 if is_quick else 20_000
    in_clear = {
        "garbage": lambda: chance.randbytes(1000),
        "garbage that begins as a handshake": lambda: plain_record(HANDSHAKE, chance.randbytes(2000)),
        "a record of an unknown kind": lambda: plain_record(99, b"x" * 100),
        "a record of 65,535 bytes": lambda: struct.pack(">BHH", HANDSHAKE, 0x0303, 0xFFFF) + b"\1" * 0xFFFF,
        "a record of no version": lambda: plain_record(HANDSHAKE, b"\1\0\0\0", 0x9999),
        "application data": lambda: plain_record(DATA, chance.randbytes(500)),
        "a message of 16 MiB": lambda: plain_record(HANDSHAKE, b"\1\xff\xff\xff" + b"x" * 16000) + many(
            lambda: plain_record(HANDSHAKE, b"x" * 16000), 300),
        "warnings without end": lambda: plain_record(ALERT, b"\1\x5a") * flood,
        "a fatal alert": lambda: plain_record(ALERT, b"\2\x28"),
        "empty records without end": lambda: plain_record(HANDSHAKE, b"") * flood,
        "ChangeCipherSpecs without end": lambda: plain_record(CHANGE_CIPHER_SPEC, b"\1") * flood,
        "plain HTTP": lambda: REQUEST * 50,
    }

    def before(make):
        def attack(client):
            client.send(make())
        return attack

    def between(make):
        def attack(client):
            client.answer_of(client.hello)
            client.send(make())
        return attack

    for name, make in in_clear.items():
        # What is no TLS from its first byte gets an answer in HTTP, or may; a server waits for the rest of a record that is not whole.
        yield f"{name} before the handshake", before(make), name != "garbage"
        yield f"{name} in the handshake", between(make), name != "garbage"

    encrypted = {
        "empty records without end": lambda client: many(lambda: client.record(DATA, b""), flood),
        "warnings without end": lambda client: many(lambda: client.record(ALERT, b"\1\x5a"), flood),
        "a record of 16,385 bytes": lambda client: client.record(DATA, b"x" * 16385),
        "a record of 60,000 bytes": lambda client: client.record(DATA, b"x" * 60000),
        "a record that does not decrypt": lambda client: plain_record(DATA, chance.randbytes(500)),
        "a record with a bit flipped": lambda client: flipped(client.record(DATA, REQUEST), chance),
        "a record twice": lambda client: client.record(DATA, REQUEST) * 2,
        "a ClientHello": lambda client: client.record(HANDSHAKE, client.hello[5:]),
        "a message of 16 MiB": lambda client: client.record(HANDSHAKE, b"\x0b\xff\xff\xff" + b"x" * 16000) + many(
            lambda: client.record(HANDSHAKE, b"x" * 16000), 300),
        "a KeyUpdate of no kind": lambda client: client.record(HANDSHAKE, KEY_UPDATE + b"\7"),
        "a fatal alert": lambda client: client.record(ALERT, b"\2\x28"),
        "a record of no kind": lambda client: client.record(0, b""),
        "a close_notify": lambda client: client.record(ALERT, b"\1\0"),
        "a ChangeCipherSpec": lambda client: plain_record(CHANGE_CIPHER_SPEC, b"\1"),
    }

    def after(make):
        def attack(client):
            client.handshake()
            client.send(make(client))
        return attack

    for name, make in encrypted.items():
        yield f"{name} after the handshake", after(make), True


def flipped(record, chance):
    place = chance.randrange(5, len(record))
    return record[:place] + bytes([record[place] ^ 1 << chance.randrange(8)]) + record[place + 1:]


def key_updates(report, server, secure, wants_one, count):
    """Clients that change their keys without end: a change costs them nothing that they have made beforehand, and the server a derivation.
    Nothing is read meanwhile, so what the server owes must not heap up either."""
    name = f"4 × {count} KeyUpdates that ask for {'one' if wants_one else 'none'}"
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Attacker(server, secure)) for _ in range(4)]
        floods = []
        for client in clients:
            client.handshake()
            client.socket.settimeout(10)
            floods.append(many(lambda: client.key_update(wants_one), count))
        wrong = []

        def attack(client, flood):
            try:
                client.socket.sendall(flood)
                if not client.asks():
                    wrong.append("a wrong answer")
            except (Gone, ConnectionError, ssl.SSLError):
                if not client.is_closed():
                    wrong.append("neither open nor closed")
            except TimeoutError:
                # The server may wait until what it owes is read, and owes nothing otherwise.
                if not wants_one:
                    wrong.append("it does not read on")

        with Witness(server) as witness:
            threads = [threading.Thread(target=attack, args=pair) for pair in zip(clients, floods)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        report.check(f"{name}: the connections go on or end in order", not wrong, "; ".join(wrong))
        report.check(f"{name}: others are answered meanwhile: {witness}", witness.is_well)


def broken_tls(context):
    """Damaged and endless records, and resets at every place, while others are answered."""
    report, secure, chance = context.report, Secure(context), random.Random(context.options.seed)
    is_quick = context.options.quick
    # Long, since encrypting a flood beforehand takes its time.
    with secure.server("--idle-timeout", "10m", "--head-timeout", "10m") as server, server.connect() as admin:
        pid = server.pid
        with Client(server.port, tls=server.tls) as client:
            client.answer()
        soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 1)
        idle = sockets(pid)
        with Witness(server) as witness:
            open_still = []
            for name, attack, must_close in attacks(chance, is_quick):
                with Attacker(server, secure) as client:
                    attack(client)
                    if must_close and not client.is_closed():
                        open_still.append(name)
            report.check("what breaks TLS is closed at once", not open_still, "; ".join(open_still))
        report.check(f"broken TLS: others are answered meanwhile: {witness}", witness.is_well)

        memory = resident(pid)
        for wants_one in (False, True):
            key_updates(report, server, secure, wants_one, 10_000 if is_quick else 30_000)

        with Witness(server) as witness:
            for round_number in range(200 if is_quick else 2000):
                version = VERSIONS[round_number % 2]
                client = Attacker(server, secure, version)
                # A reset, or an end, at any byte of either flight, or of a request.
                place = round_number % 3
                with contextlib.suppress(Gone, ConnectionError, ssl.SSLError):
                    if place == 0:
                        sent = client.hello
                    elif place == 1:
                        sent = client.answer_of(client.hello)
                    else:
                        client.handshake()
                        client.tls.write(REQUEST)
                        sent = client.outgoing.read()
                    cut = chance.randrange(len(sent) + 1)
                    damaged = flipped(sent, chance) if len(sent) > 5 and chance.random() < 0.3 else sent
                    client.socket.sendall(damaged[:cut])
                if chance.random() < 0.7:
                    client.reset()
                client.socket.close()
        report.check(f"resets in records: others are answered meanwhile: {witness}", witness.is_well)

        left = soon(lambda: sockets(pid), lambda found: found <= idle)
        report.check("broken TLS: no descriptor is left of it", left <= idle, f"{left} sockets, {idle} before")
        is_open = soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 1)
        report.check("broken TLS: no connection is counted as open still", is_open == 1, f"{is_open}")
        grown = resident(pid) - memory
        report.check(f"broken TLS: memory grew by {grown} KiB (limit 8 MiB)", grown <= 8192)
        faults = metric(admin, secure, "handler_faults_total")
        is_there = server.process.poll() is None and server.pid == pid
        report.check("broken TLS: no fault of the server", faults == 0 and is_there, f"{faults} faults")
        report.check("broken TLS: SIGTERM ends it with 0", server.stop() == 0)


def make_handshakes(port, secure, count):
    """(full ones, resumed ones) that succeeded; each with a request, ended in order or not."""
    contexts = [secure.context(version) for version in VERSIONS]
    full = resumed = 0
    sessions = dict.fromkeys(range(len(contexts)))
    for number in range(count):
        kind = number % len(contexts)
        # Of four of a version one is full, so that tickets are made and used.
        session = None if number // len(contexts) % 4 == 0 else sessions[kind]
        with Client(port, tls=contexts[kind], session=session) as client:
            client.health()
            resumed += client.socket.session_reused
            full += not client.socket.session_reused
            sessions[kind] = client.socket.session
            if number % 3 == 0:
                with contextlib.suppress(OSError):
                    client.socket.unwrap()
            elif number % 3 == 1:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return full, resumed


def many_handshakes(context):
    """Full and resumed ones by the thousand leave no memory and no descriptor behind."""
    report, secure = context.report, Secure(context)
    count = 2_000 if context.options.quick else 100_000
    # The admin's connection is not used for as long as they take.
    with secure.server("--idle-timeout", "1h") as server, server.connect() as admin, multiprocessing.get_context("fork").Pool(2) as pool:
        def handshakes(count):
            parts = pool.starmap_async(make_handshakes, [(server.port, secure, count // 2)] * 2).get(1800)
            soon(lambda: metric(admin, secure, "connections_open"), lambda found: found == 1)
            return [sum(part) for part in zip(*parts)]

        # What is allocated once and kept, such as buffers for reuse, is there after these.
        handshakes(count // 4)
        idle, memory, began = sockets(server.pid), resident(server.pid), time.monotonic()
        full, resumed = handshakes(count)
        took = time.monotonic() - began
        report.check(f"{full} full and {resumed} resumed handshakes in {took:.0f} s", full + resumed == count and full < count // 3)
        grown = resident(server.pid) - memory
        report.check(f"{count} handshakes: memory grew by {grown} KiB (limit 3 MiB)", grown <= 3072)
        left = soon(lambda: sockets(server.pid), lambda found: found <= idle)
        report.check(f"{count} handshakes: no descriptor is left of them", left <= idle, f"{left} sockets, {idle} before")
        report.check(f"{count} handshakes: SIGTERM ends it with 0", server.stop() == 0)
