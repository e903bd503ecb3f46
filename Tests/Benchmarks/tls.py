#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Measures the server with TLS beside nginx with the same certificate, key, ciphers and groups, in the way of run.py, from which comes all
# that has nothing to do with TLS.
#
# Of a handshake only the server's processor time counts: the client pays about as much, so handshakes a second say more of the client. Both
# servers link the same OpenSSL; what differs is what they do around it: system calls, records, tickets, memory.
#
# The client of the handshakes is here, since it must know of each one whether it was full or resumed: `wrk` resumes by itself whatever it
# opens again. A run in which a single one is not what it is to be fails. Keep-alive answers are those of `wrk`, which checks no certificate
# and offers what OpenSSL offers. What the two servers agree on with such a client is compared before anything is measured.

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from run import CONNECTIONS, NCCO, TARGET, TICK, Bench, Failure, Nginx, Ours, main

CLIENTS = 8
TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
# Mozilla's intermediate profile without the finite-field groups; the ciphers of TLS 1.3 are OpenSSL's in both servers.
CIPHERS = ":".join(f"ECDHE-{key}-{cipher}" for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")
                   for key in ("ECDSA", "RSA"))
KEYS = {"P-256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "RSA-2048": ["rsa:2048"]}


def client(version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    return context


class SecureServer:
    """What is the same in both servers, and comes before their own classes."""

    scheme = "https"
    context = client(TLS_1_3)

    def connect(self, timeout=10, context=None, session=None):
        connection = super().connect(timeout)
        # Else the request waits for the other side's delayed acknowledgement of the end of the handshake.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return (context or self.context).wrap_socket(connection, session=session)

    def terms(self, version):
        """What a client of OpenSSL agrees on with the server."""
        run = subprocess.run(["openssl", "s_client", "-brief", version, "-connect", f"127.0.0.1:{self.port}"], capture_output=True,
                             text=True, stdin=subprocess.DEVNULL, timeout=30)
        names = ("Protocol version", "Ciphersuite", "Hash used", "Signature type", "Server Temp Key")
        found = {name: re.search(f"^{name}: (.*)$", run.stderr, re.M) for name in names}
        if not all(found.values()):
            raise Failure(f"{self.name}: no handshake with {version}: {run.stderr}")
        return {name: match[1] for name, match in found.items()}


class SecureOurs(SecureServer, Ours):
    def __init__(self, folder, cpu, binary, *flags, certificate, key):
        super().__init__(folder, cpu, binary, *flags, "--tls-cert", str(certificate), "--tls-key", str(key))


class SecureNginx(SecureServer, Nginx):
    listen = "ssl"

    def __init__(self, folder, cpu, certificate, key):
        super().__init__(folder, cpu)
        self.directives = f"""
            ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {CIPHERS};
            ssl_prefer_server_ciphers off; ssl_ecdh_curve X25519:prime256v1:secp384r1; ssl_session_tickets on; ssl_session_cache off;
        """


class SecureBench(Bench):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        if not shutil.which("openssl"):
            raise Failure("openssl not found (Debian: apt-get install openssl)")
        self.pairs = {}
        for name, kind in KEYS.items():
            certificate, key = (self.folder / f"{name}-{part}.pem" for part in ("certificate", "key"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1", "-addext",
                            "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
            self.pairs[name] = {"certificate": certificate, "key": key}
        for name in KEYS:
            pair = [self.ours(key=name).start(), self.nginx(name).start()]
            for version in ("-tls1_3", "-tls1_2"):
                ours, nginx = (server.terms(version) for server in pair)
                if ours != nginx:
                    raise Failure(f"the two servers agree on different things with the same client: {ours}, {nginx}")
                print(f"{name}: " + ", ".join(ours.values()))
            self.end(pair)

    def ours(self, *flags, key="P-256"):
        server = SecureOurs(self.folder, self.cpu, self.binary, *flags, **self.pairs[key])
        self.stack.callback(server.stop)
        return server

    def nginx(self, key="P-256"):
        server = SecureNginx(self.folder, self.cpu, **self.pairs[key])
        self.stack.callback(server.stop)
        return server

    # One run of the client

    def handshakes(self, server, version, resumed, seconds):
        """Connections with one answer each: CLIENTS at once, on the processor of the load."""
        context = client(version)
        ask = f"GET {TARGET} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()

        def one(session):
            """The session that the server gave."""
            with server.connect(context=context, session=session) as connection:
                connection.sendall(ask)
                answer = b""
                while part := connection.recv(65536):
                    answer += part
                if not answer.startswith(b"HTTP/1.1 200") or not answer.endswith(NCCO.encode()):
                    raise Failure(f"{server.name} answered {answer}")
                if connection.session_reused != (session is not None):
                    raise Failure(f"{server.name}: a handshake was {'full' if session else 'resumed'} that was to be the other")
                # nginx gives one with each: a client is to use a ticket of TLS 1.3 once (RFC 8446 C.4), and making it is part of the work.
                if session and version == TLS_1_3 and connection.session.id == session.id:
                    raise Failure(f"{server.name}: a resumed session of TLS 1.3 got no new ticket")
                return connection.session

        first = one(None) if resumed else None
        if resumed and not first.has_ticket:
            raise Failure(f"{server.name} gave no ticket")

        def many(end):
            session, count = first, 0
            while time.perf_counter() < end:
                latest = one(session)
                session = latest if resumed else None
                count += 1
            return count

        with ThreadPoolExecutor(CLIENTS, initializer=os.sched_setaffinity, initargs=(0, {self.load_cpu})) as clients:
            before, began = server.processor_time(), time.perf_counter()
            count = sum(clients.map(many, [began + seconds] * CLIENTS))
            took, spent = time.perf_counter() - began, server.processor_time() - before
        return {"rate": count / took, "per_cpu": count / max(spent, TICK)}

    def compare_handshakes(self, title, key, version, resumed):
        self.heading(f"{title}: handshake, one answer and close, {CLIENTS} connections at once")
        flags = ["--log-answers", "none"]
        servers = [self.ours(*flags, key=key).start(), self.nginx(key).start()]
        ours, nginx = self.alternate(servers, lambda server: self.handshakes(server, version, resumed, self.options.seconds))
        self.compare("handshakes for each second of processor time", [r["per_cpu"] for r in ours], [r["per_cpu"] for r in nginx],
                     lambda v: f"{v:,.0f}", 0.9)
        self.compare("handshakes a second, as fast as the client can", [r["rate"] for r in ours], [r["rate"] for r in nginx],
                     lambda v: f"{v:,.0f}")
        self.end(servers)

    # Scenarios

    def full(self):
        for key in KEYS:
            self.compare_handshakes(f"Full handshakes, TLS 1.3, {key}", key, TLS_1_3, False)

    def resumed(self):
        for version, name in ((TLS_1_3, "1.3"), (TLS_1_2, "1.2")):
            self.compare_handshakes(f"Handshakes resumed by tickets, TLS {name}, P-256", "P-256", version, True)

    def encrypted(self):
        self.answers(f"Answers over TLS, keep-alive, {CONNECTIONS} connections, --log-answers none", ["--log-answers", "none"], 0.9)

    def idle(self):
        count = 3000
        self.heading(f"{count:,} idle TLS connections, each after one answer")
        servers = [self.ours("--log-answers", "none").start(), self.nginx().start()]
        for server in servers:
            # What a server sets up once is no part of a connection.
            self.growth(server, 100)
        sizes = [self.growth(server, count) for server in servers]
        self.end(servers)
        self.compare("resident bytes for each", sizes[:1], sizes[1:], lambda v: f"{v:,.0f}", 1.5, "lower")


SCENARIOS = {
    "tls-full": SecureBench.full, "tls-resumed": SecureBench.resumed, "tls-answers": SecureBench.encrypted, "tls-idle": SecureBench.idle,
}

if __name__ == "__main__":
    sys.exit(main(SecureBench, SCENARIOS, "Measures the server with TLS beside nginx with TLS, on one processor each."))
