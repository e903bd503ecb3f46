# SPDX-License-Identifier: MIT
#
# The server's TLS against clients that are not ours: OpenSSL's s_client, curl, Python's ssl, sslyze, and ClientHellos by hand. What they
# should be able to do works, what no client should be given is refused, and a new certificate is served without the loss of a connection.

import contextlib
import functools
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings
from pathlib import Path

import sslyze
import support
import tls_tools
from cryptography.hazmat.primitives import serialization
from cryptography.utils import CryptographyDeprecationWarning
from sslyze.mozilla_tls_profile.tls_config_checker import (
    MozillaTlsConfiguration,
    ServerNotCompliantWithTlsConfiguration,
    TlsConfigurationEnum,
    check_server_against_tls_configuration,
)
from tls_tools import NAME, SUITES, SUITES_13, TLS12, TLS13, answer_to, client_hello, curl, s_client

KINDS = ("ecdsa", "rsa")
TOKEN = "the-admin-token-of-interop"
GET = f"GET /health HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n"
# How soon a change must be seen: the files are looked at twice a second, and the machine may be busy.
SOON = 10


def with_each_kind(*arguments):
    """Runs a test with a server for each kind of certificate."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for kind in KINDS:
                with self.subTest(kind):
                    test(self, kind, self.serve(kind, *arguments))
        return run
    return decorate


class TLSTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="switchboard-interop-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.authority = tls_tools.Authority(cls.folder)
        cls.pairs = {kind: cls.authority.pair(kind) for kind in KINDS}
        cls.token_file = cls.folder / "token"
        cls.token_file.write_text(TOKEN)
        cls.token_file.chmod(0o600)

    def serve(self, kind, *arguments, pair=None, **settings):
        pair = pair or self.pairs[kind]
        server = support.Server(support.NCCOS, *pair.flags, "--admin-token-file", str(self.token_file), *arguments, **settings)
        return self.enterContext(server)

    def context(self, version=None):
        context = ssl.create_default_context(cafile=self.authority.root_file)
        if version:
            context.minimum_version = context.maximum_version = version
        return context

    def connect(self, server, version=None, context=None, session=None):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=support.SECONDS)
        self.addCleanup(connection.close)
        # An end without close_notify shall be an error: it is how an attacker cuts an answer short.
        secure = (context or self.context(version)).wrap_socket(
            connection, server_hostname=NAME, session=session, suppress_ragged_eofs=False)
        self.addCleanup(secure.close)
        return secure

    def ask(self, secure, path="/health", token=None):
        """The answer to a request on a connection that stays open."""
        admin = f"Authorization: Bearer {token}\r\n" if token else ""
        secure.sendall(f"GET {path} HTTP/1.1\r\nHost: {NAME}\r\n{admin}\r\n".encode())
        response = http.client.HTTPResponse(secure)
        response.begin()
        body = response.read()
        self.assertEqual(response.status, 200, body)
        return body.decode()

    def served_serial(self, server):
        """That of the certificate which a new connection gets."""
        with self.connect(server) as secure:
            return serial(secure)

    def served_serials(self, server):
        return {self.served_serial(server) for _ in range(12)}

    def health(self, server):
        """As the admin sees it."""
        with self.connect(server) as secure:
            return json.loads(self.ask(secure, token=TOKEN))

    def metric(self, server, name):
        with self.connect(server) as secure:
            return int(re.search(rf"^switchboard_{name} (\d+)$", self.ask(secure, "/metrics", TOKEN), re.M)[1])

    def assert_no_key(self, text, *pairs):
        for pair in pairs:
            for line in tls_tools.key_pem(pair.key).decode().splitlines()[1:-1]:
                self.assertNotIn(line, text, "a key is shown")

    def soon(self, read, wanted, message):
        """Reads until it is as wanted."""
        end = time.monotonic() + SOON
        while not wanted(found := read()):
            if time.monotonic() > end:
                self.fail(f"{message}, but after {SOON} s: {found}")
        return found


def serial(secure):
    return int(secure.getpeercert()["serialNumber"], 16)


class Clients(TLSTest):
    @with_each_kind()
    def test_curl_gets_answers_and_verifies_the_chain(self, kind, server):
        for arguments, version in [
            ((), "TLSv1.3"), (("--http1.1",), "TLSv1.3"), (("--tls-max", "1.2"), "TLSv1.2"), (("--tlsv1.3",), "TLSv1.3")
        ]:
            code, body, said = curl(self.authority, server.port, "--write-out", "%{http_version}", *arguments)
            self.assertEqual((code, body), (0, '{"status":"ok"}\n1.1'), f"{arguments}: {said}")
            self.assertIn(f"SSL connection using {version} / ", said)
            self.assertRegex(said, r"ALPN.* accepted.* http/1\.1", f"{arguments}")
            self.assertIn("SSL certificate verify ok.", said)

    def test_curl_without_the_root_refuses(self):
        server = self.serve("ecdsa")
        code, _, said = curl(self.authority, server.port, "--cacert", str(self.pairs["rsa"].certificate_file))
        self.assertEqual(code, 60, said)

    @with_each_kind()
    def test_a_connection_is_kept_and_large_bodies_pass(self, kind, server):
        body = self.folder / "event.json"
        body.write_text(json.dumps({"status": "ringing", "uuid": "a", "pad": "x" * 200_000}))
        url = f"https://{NAME}:{server.port}"
        code, answer, said = curl(
            self.authority, server.port, "--data-binary", f"@{body}", "--header", "Content-Type: application/json",
            f"{url}/voice/event", "--next", "--disable", "--silent", "--cacert", str(self.authority.root_file), "--connect-to",
            f"{NAME}::127.0.0.1:", f"{url}/openapi.json", path=None)
        self.assertEqual(code, 0, said)
        self.assertEqual(json.loads(answer)["openapi"], "3.1.0")
        self.assertRegex(said, "Re-using existing connection")
        self.assertTrue(any(len(line) > 200_000 for line in server.events()), "the event is not in the log")

    @with_each_kind()
    def test_openssl_and_python_agree_on_suites_groups_and_alpn(self, kind, server):
        for suite in SUITES[kind]:
            code, said = s_client(self.authority, server.port, "-tls1_2", "-cipher", suite, text=GET)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, rf"New, TLSv1\.2, Cipher is {suite}\n")
        for suite in SUITES_13:
            for group in tls_tools.GROUPS:
                code, said = s_client(self.authority, server.port, "-ciphersuites", suite, "-groups", group, text=GET)
                self.assertEqual(code, 0, said)
                self.assertRegex(said, rf"New, TLSv1\.3, Cipher is {suite}\n")
        for offered in (["http/1.1"], ["h2", "http/1.1"], ["http/1.1", "h2"]):
            context = self.context()
            context.set_alpn_protocols(offered)
            with self.connect(server, context=context) as secure:
                self.assertEqual(secure.selected_alpn_protocol(), "http/1.1", offered)
                self.assertIn("ok", self.ask(secure))
        with self.connect(server) as secure:
            self.assertIsNone(secure.selected_alpn_protocol())
            self.assertIn("ok", self.ask(secure))

    def test_the_client_chooses_among_the_suites(self):
        server = self.serve("ecdsa")
        for first in SUITES["ecdsa"].values():
            suites = [first, *(suite for suite in SUITES["ecdsa"].values() if suite != first)]
            self.assertEqual(answer_to(server.port, client_hello(TLS12, suites)), (TLS12, first))

    def test_ed25519_and_other_spellings_of_keys_serve(self):
        ec_key, rsa_key = self.pairs["ecdsa"].key, self.pairs["rsa"].key
        traditional = serialization.PrivateFormat.TraditionalOpenSSL
        parameters = subprocess.run(
            ["openssl", "ecparam", "-name", "prime256v1"], capture_output=True, check=True, timeout=support.SECONDS).stdout
        ed25519 = self.authority.pair("ed25519")
        for name, pair, spelling in [
            ("Ed25519", ed25519, tls_tools.key_pem(ed25519.key)),
            ("SEC 1", self.authority.pair("ecdsa", "sec1", key=ec_key), tls_tools.key_pem(ec_key, traditional)),
            (
                "SEC 1 with parameters", self.authority.pair("ecdsa", "sec1p", key=ec_key),
                parameters + tls_tools.key_pem(ec_key, traditional),
            ),
            ("PKCS #1", self.authority.pair("rsa", "pkcs1", key=rsa_key), tls_tools.key_pem(rsa_key, traditional)),
            ("CRLF", self.authority.pair("rsa", "crlf", key=rsa_key), tls_tools.key_pem(rsa_key).replace(b"\n", b"\r\n")),
        ]:
            with self.subTest(name):
                pair.key_file.write_bytes(spelling)
                self.assertEqual(self.served_serial(self.serve(None, pair=pair)), pair.serial)

    def test_health_asks_by_tls(self):
        server = self.serve("ecdsa")
        url = f"https://localhost:{server.port}"
        settings = {"PORT": str(server.port), "TLS_CERT": str(self.pairs["ecdsa"].certificate_file)}
        for arguments, settings in [(["--url", url], {}), ([], settings)]:
            done = subprocess.run(
                [os.environ["SWITCHBOARD"], "health", *arguments], capture_output=True, encoding="utf-8", timeout=support.SECONDS,
                env=settings)
            self.assertEqual(done.returncode, 0, f"{arguments} {settings}: {done.stdout}{done.stderr}")


class Refusals(TLSTest):
    def test_h2_alone_gets_the_alert(self):
        server = self.serve("ecdsa")
        for version in ("-tls1_2", "-tls1_3"):
            code, said = s_client(self.authority, server.port, version, "-alpn", "h2")
            self.assertNotEqual(code, 0)
            self.assertRegex(said, "alert no application protocol.*SSL alert number 120")
        hello = client_hello(TLS12, SUITES["ecdsa"].values(), alpn=[b"h2", b"http/1.0", b"acme-tls/1"])
        self.assertEqual(answer_to(server.port, hello), "no_application_protocol")

    @with_each_kind()
    def test_old_versions_are_refused(self, kind, server):
        for version in ("-tls1", "-tls1_1"):
            code, said = s_client(self.authority, server.port, version, "-cipher", "ALL:@SECLEVEL=0")
            self.assertNotEqual(code, 0)
            self.assertIn("alert protocol version", said)
        suites = [*SUITES[kind].values(), 0x000A, 0x0005, 0x002F, 0xC009, 0xC013]
        for version in (tls_tools.SSL3, tls_tools.TLS10, tls_tools.TLS11):
            self.assertIn(
                answer_to(server.port, client_hello(version, suites)), ("protocol_version", "handshake_failure"), f"{version:04x}")
        # The ClientHello of SSL 2.0, with the suites that it had.
        hello = bytes.fromhex("802e 01 0002 0015 0000 0010 010080 020080 030080 040080 050080 060040 0700c0") + os.urandom(16)
        self.assertIn(answer_to(server.port, hello), ("closed", "protocol_version", "handshake_failure"))
        self.assertEqual(answer_to(server.port, client_hello(TLS12, [*SUITES[kind].values(), tls_tools.FALLBACK_SCSV])),
                         "inappropriate_fallback")

    @with_each_kind()
    def test_of_all_65536_suites_only_the_profile_is_taken(self, kind, server):
        for name, suite in SUITES[kind].items():
            self.assertEqual(answer_to(server.port, client_hello(TLS12, [suite])), (TLS12, suite), name)
        for name, suite in SUITES_13.items():
            self.assertEqual(answer_to(server.port, client_hello(TLS13, [suite])), (TLS13, suite), name)
        others = sorted(set(range(0x10000)) - set(SUITES[kind].values()) - set(SUITES_13.values()) - {tls_tools.FALLBACK_SCSV})
        for version in (TLS12, TLS13):
            for place in range(0, len(others), 20_000):
                suites = others[place:place + 20_000]
                self.assertEqual(answer_to(server.port, client_hello(version, suites)), "handshake_failure",
                                 f"a suite from {suites[0]:04x} to {suites[-1]:04x} with {version:04x}")

    @with_each_kind()
    def test_openssl_finds_no_other_suite(self, kind, server):
        allowed = ":".join(f"!{suite}" for suites in SUITES.values() for suite in suites)
        for ciphers in ("ALL:COMPLEMENTOFALL", "aNULL", "eNULL", "kRSA", "kDHE", "SHA1", "SHA256:SHA384", "AESCCM", "ARIA", "CAMELLIA"):
            code, said = s_client(self.authority, server.port, "-tls1_2", "-cipher", f"{ciphers}:{allowed}:@SECLEVEL=0")
            self.assertNotEqual(code, 0, ciphers)
            self.assertIn("alert handshake failure", said, ciphers)

    @with_each_kind()
    def test_of_all_65536_groups_only_the_profile_is_taken(self, kind, server):
        suites = {TLS13: list(SUITES_13.values())}
        if kind == "rsa":
            # In TLS 1.2 the groups name the curves of certificates as well, so that one with P-256 is not for who does not offer it.
            suites[TLS12] = list(SUITES[kind].values())
        for version in suites:
            for name, group in tls_tools.GROUPS.items():
                self.assertEqual(answer_to(server.port, client_hello(version, suites[version], groups=[group]))[0], version, name)
            others = sorted(set(range(0x10000)) - set(tls_tools.GROUPS.values()))
            for place in range(0, len(others), 16_000):
                groups = others[place:place + 16_000]
                self.assertEqual(answer_to(server.port, client_hello(version, suites[version], groups=groups)), "handshake_failure",
                                 f"a group from {groups[0]} to {groups[-1]} with {version:04x}")

    def test_renegotiation_is_refused_and_others_go_on(self):
        server = self.serve("ecdsa")
        with self.connect(server) as other:
            for _ in range(5):
                code, said = s_client(self.authority, server.port, "-tls1_2", text="R\n")
                self.assertIn("RENEGOTIATING", said)
                self.assertIn("no renegotiation", said)
                self.assertNotEqual(code, 0, said)
                self.assertIn("ok", self.ask(other))

    def test_nothing_is_compressed(self):
        server = self.serve("ecdsa")
        code, said = s_client(self.authority, server.port, "-tls1_2", "-comp", text=GET)
        self.assertEqual(code, 0, said)
        self.assertIn("Compression: NONE", said)

    def test_plain_http_is_told_to_use_https(self):
        server = self.serve("ecdsa")
        code, body, said = curl(self.authority, server.port, "--include", scheme="http")
        self.assertEqual(code, 0, said)
        self.assertRegex(body, r"\AHTTP/1\.1 400 ")
        self.assertIn("\nContent-Type: application/problem+json\n", body)
        problem = json.loads(body.partition("\n\n")[2])
        self.assertEqual(problem["status"], 400)
        self.assertIn("TLS", problem["detail"])
        self.assertIn("https://", problem["detail"])
        for request in (b"POST /voice/event HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", b"HEAD / HTTP/1.0\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=support.SECONDS) as plain:
                plain.sendall(request)
                self.assertRegex(b"".join(iter(lambda: plain.recv(65536), b"")), rb"\AHTTP/1\.1 400 ")
        self.assertEqual(server.events(), [])


class Resumption(TLSTest):
    def written_session(self, server, version, name="session"):
        file = self.folder / name
        code, said = s_client(self.authority, server.port, version, "-sess_out", file, text=GET)
        self.assertEqual(code, 0, said)
        self.assertIn("New, ", said)
        return file, said

    @with_each_kind("--workers", "2")
    def test_openssl_resumes_by_ticket(self, kind, server):
        for version, name in (("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")):
            file, _ = self.written_session(server, version)
            # Whichever of the workers takes it.
            for _ in range(12):
                code, said = s_client(self.authority, server.port, version, "-sess_in", file, text=GET)
                self.assertEqual(code, 0, said)
                self.assertIn(f"Reused, {name}, ", said)
                self.assertIn('{"status":"ok"}', said)

    @with_each_kind("--workers", "2")
    def test_python_resumes_by_ticket(self, kind, server):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(version)
            with self.connect(server, context=context) as secure:
                self.ask(secure)
                session = secure.session
                self.assertTrue(session.has_ticket)
            for _ in range(12):
                with self.connect(server, context=context, session=session) as secure:
                    self.assertTrue(secure.session_reused, version)
                    self.assertIn("ok", self.ask(secure))
                    self.assertEqual(secure.version(), version.name.replace("_", "."))

    def test_no_session_is_kept_by_its_id(self):
        server = self.serve("ecdsa")
        code, said = s_client(self.authority, server.port, "-tls1_2", "-no_ticket", "-sess_out", self.folder / "by-id", text=GET)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"Session-ID: *\n")

    def test_a_changed_ticket_leads_to_a_full_handshake(self):
        server = self.serve("ecdsa")
        for version in ("-tls1_2", "-tls1_3"):
            session = tls_tools.Session(self.written_session(server, version)[0])
            start, end = session.ticket
            places = [*range(start, end, 9), start + 15, start + 16, end - 1]
            forged = {place: os.urandom(1)[0] for place in range(start, end)}
            # The name of the key, the vector, what is encrypted and the check of it; and a ticket with the right name alone.
            unnamed = {place: byte for place, byte in forged.items() if place >= start + 16}
            for changes in [*({place: session.der[place] ^ 0x10} for place in places), forged, unnamed]:
                file = self.folder / "changed"
                session.write(file, changes)
                code, said = s_client(self.authority, server.port, version, "-sess_in", file, text=GET)
                where = f"{version}, bytes {min(changes) - start} to {max(changes) - start} of {end - start}"
                self.assertEqual(code, 0, f"{where}: {said}")
                self.assertIn("New, TLSv1.", said, where)
                self.assertIn('{"status":"ok"}', said, where)

    def test_a_stolen_ticket_is_worth_nothing_without_its_secret(self):
        server = self.serve("ecdsa")
        for version in ("-tls1_2", "-tls1_3"):
            session = tls_tools.Session(self.written_session(server, version)[0])
            file = self.folder / "stolen"
            session.write(file, {session.secret[0]: session.der[session.secret[0]] ^ 1})
            code, said = s_client(self.authority, server.port, version, "-sess_in", file, text=GET)
            self.assertNotEqual(code, 0, said)
            self.assertNotIn('{"status":"ok"}', said)

    def test_a_ticket_is_of_no_use_at_another_server(self):
        server, other = self.serve("ecdsa"), self.serve("ecdsa")
        for version in ("-tls1_2", "-tls1_3"):
            file, _ = self.written_session(server, version)
            code, said = s_client(self.authority, other.port, version, "-sess_in", file, text=GET)
            self.assertEqual(code, 0, said)
            self.assertIn("New, TLSv1.", said)

    def test_there_is_no_early_data(self):
        server = self.serve("ecdsa")
        file, said = self.written_session(server, "-tls1_3")
        self.assertIn("Max Early Data: 0\n", said)
        data = self.folder / "early"
        data.write_text(GET)
        code, said = s_client(self.authority, server.port, "-sess_in", file, "-early_data", data, text=GET)
        self.assertEqual(code, 0, said)
        self.assertIn("Early data was not sent", said)
        self.assertEqual(said.count('{"status":"ok"}'), 1)


class Ends(TLSTest):
    VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)

    def test_an_answer_with_close_ends_in_close_notify(self):
        server = self.serve("ecdsa")
        for version in self.VERSIONS:
            with self.connect(server, version) as secure:
                secure.sendall(GET.encode())
                # A plain end would be an SSLEOFError.
                answer = b"".join(iter(lambda: secure.recv(65536), b""))
                self.assertRegex(answer, rb"\AHTTP/1\.1 200 ")
        code, said = s_client(self.authority, server.port, text=GET)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\nclosed\n\Z")

    def test_a_refused_request_ends_in_close_notify(self):
        server = self.serve("ecdsa")
        with self.connect(server) as secure:
            secure.sendall(b"GET / HTTP/1.1\nHost: a\n\n")
            self.assertRegex(b"".join(iter(lambda: secure.recv(65536), b"")), rb"\AHTTP/1\.1 400 ")

    def test_the_end_of_the_idle_time_is_a_close_notify(self):
        server = self.serve("ecdsa", "--idle-timeout", "200ms")
        for version in self.VERSIONS:
            with self.connect(server, version) as secure:
                self.ask(secure)
                self.assertEqual(secure.recv(1), b"")

    def test_a_stop_is_a_close_notify(self):
        server = self.serve("ecdsa")
        secure = [self.connect(server, version) for version in self.VERSIONS]
        for connection in secure:
            self.ask(connection)
        server.process.terminate()
        for connection in secure:
            self.assertEqual(connection.recv(1), b"")
        self.assertEqual(server.process.wait(support.SECONDS), 0)

    def test_the_ends_that_clients_make_are_understood(self):
        server = self.serve("ecdsa")
        for version in self.VERSIONS:
            with self.connect(server, version) as secure:
                self.ask(secure)
                # Waits for the server's own close_notify.
                secure.unwrap().close()
            # Without one: the end of the stream, and a reset.
            with self.connect(server, version) as secure:
                self.ask(secure)
                socket.socket.shutdown(secure, socket.SHUT_WR)
                with contextlib.suppress(ssl.SSLEOFError):
                    self.assertEqual(secure.recv(1), b"")
            secure = self.connect(server, version)
            self.ask(secure)
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            secure.close()
        self.soon(lambda: self.metric(server, "connections_open"), lambda open_now: open_now == 1, "only the one that asks is open")


class Reloading(TLSTest):
    def test_sighup_and_a_changed_file_bring_the_new_certificate(self):
        for how in ("SIGHUP", "a changed file"):
            with self.subTest(how):
                pair = self.authority.pair("ecdsa", "changing")
                server = self.serve(None, "--workers", "2", pair=pair)
                kept = [self.connect(server) for _ in range(4)]
                for connection in kept:
                    self.ask(connection)
                took = []
                for kind in ("ecdsa", "rsa", "ed25519"):
                    new = self.authority.pair(kind, "new")
                    pair.replaced_by(new)
                    began = time.monotonic()
                    if how == "SIGHUP":
                        server.process.send_signal(signal.SIGHUP)
                    self.soon(lambda: self.served_serial(server), lambda found: found == new.serial, "the new certificate is served")
                    took.append(time.monotonic() - began)
                    # By both workers.
                    self.soon(lambda: self.served_serials(server), lambda found: found == {new.serial}, "all serve the new certificate")
                    for connection in kept:
                        self.assertIn("ok", self.ask(connection))
                        self.assertEqual(serial(connection), pair.serial)
                if how == "SIGHUP":
                    # Files are looked at twice a second, and read when they have not changed since the look before.
                    self.assertLess(min(took), 0.45, "the signal did not bring it, but the look at the files")
                self.assertEqual(self.health(server), {"status": "ok", "reasons": []})

    def test_a_ticket_is_worth_nothing_after_a_new_certificate(self):
        # Else who has taken the old key could go on with sessions of before.
        pair = self.authority.pair("ecdsa", "renewed")
        server, context = self.serve(None, pair=pair), self.context()
        with self.connect(server, context=context) as secure:
            self.ask(secure)
            session = secure.session
        new = self.authority.pair("ecdsa", "renewal")
        pair.replaced_by(new)
        self.soon(lambda: self.served_serial(server), lambda found: found == new.serial, "the new certificate is served")
        with self.connect(server, context=context, session=session) as secure:
            self.assertIn("ok", self.ask(secure))
            self.assertFalse(secure.session_reused)

    def test_a_wrong_pair_keeps_the_old_one_and_health_says_why(self):
        pair, other = self.authority.pair("ecdsa", "good"), self.authority.pair("ecdsa", "other")
        expired = self.authority.pair("ecdsa", "expired", ends=-1)
        server = self.serve(None, pair=pair)
        good = pair.certificate_file.read_bytes(), pair.key_file.read_bytes()
        for name, certificate, key in [
            ("the key of another", good[0], other.key_file.read_bytes()),
            ("half a file", good[0][: len(good[0]) // 3], good[1]),
            ("no file", None, good[1]),
            ("an empty key", good[0], b""),
            ("an encrypted key", good[0], tls_tools.key_pem(pair.key, password=b"secret")),
            ("an expired certificate", expired.certificate_file.read_bytes(), expired.key_file.read_bytes()),
        ]:
            with self.subTest(name):
                if certificate is None:
                    pair.certificate_file.unlink()
                else:
                    pair.certificate_file.write_bytes(certificate)
                pair.key_file.write_bytes(key)
                server.process.send_signal(signal.SIGHUP)
                health = self.soon(lambda: self.health(server), lambda found: found["status"] == "degraded", "health is degraded")
                self.assertEqual(len(health["reasons"]), 1, health)
                self.assertRegex(health["reasons"][0], r"good\.(pem|key)")
                self.assertEqual(self.served_serials(server), {pair.serial})
                self.assertIn(health["reasons"][0].rpartition(": ")[2], self.errors(server))
                self.assert_no_key(self.errors(server), pair, other)
                pair.certificate_file.write_bytes(good[0])
                pair.key_file.write_bytes(good[1])
                self.soon(lambda: self.health(server), lambda found: found == {"status": "ok", "reasons": []}, "health is well again")
                self.assertEqual(self.served_serial(server), pair.serial)

    def errors(self, server):
        return Path(server.work, "errors").read_text(encoding="utf-8")


class Starting(TLSTest):
    def start(self, certificate, key):
        """(exit code, lines on standard error) of a start that must end."""
        with tempfile.TemporaryDirectory() as events:
            command = [
                os.environ["SWITCHBOARD"], "serve", "--host", "127.0.0.1", "--port", "0", "--nccos", str(support.NCCOS), "--events",
                events, *(["--tls-cert", str(certificate)] if certificate else []), *(["--tls-key", str(key)] if key else []),
            ]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=support.SECONDS, env={})
            self.assertEqual(done.stdout, "")
            return done.returncode, done.stderr.splitlines()

    def test_a_pair_that_cannot_serve_is_one_line_and_64(self):
        good, other = self.authority.pair("ecdsa", "start"), self.authority.pair("rsa", "other-start")
        expired = self.authority.pair("ecdsa", "expired-start", ends=-1)
        encrypted, empty, garbage, nothing = (self.folder / name for name in ("encrypted.key", "empty.pem", "garbage.pem", "nothing.pem"))
        encrypted.write_bytes(tls_tools.key_pem(good.key, password=b"secret"))
        empty.write_bytes(b"")
        garbage.write_bytes(b"-----BEGIN CERTIFICATE-----\nMIIBnonsense\n-----END CERTIFICATE-----\n")
        for name, certificate, key, named, words in [
            ("mismatch", good.certificate_file, other.key_file, other.key_file, "match|belong"),
            ("expired", expired.certificate_file, expired.key_file, expired.certificate_file, "expired"),
            ("no certificate file", nothing, good.key_file, nothing, "No such file|no such file|not there|no file"),
            ("no key file", good.certificate_file, nothing, nothing, "No such file|no such file|not there|no file"),
            ("a folder", self.folder, good.key_file, self.folder, "folder|directory"),
            ("encrypted", good.certificate_file, encrypted, encrypted, "encrypted|passphrase|password"),
            ("empty certificate", empty, good.key_file, empty, "certificate"),
            ("empty key", good.certificate_file, empty, empty, "key"),
            ("garbage", garbage, good.key_file, garbage, "certificate"),
            ("the files changed over", good.key_file, good.certificate_file, "start.", "certificate"),
            ("no key named", good.certificate_file, None, "--tls-key", "--tls-key"),
            ("no certificate named", None, good.key_file, "--tls-cert", "--tls-cert"),
        ]:
            with self.subTest(name):
                code, lines = self.start(certificate, key)
                self.assertEqual((code, len(lines)), (64, 1), lines)
                self.assertIn(str(named), lines[0])
                self.assertRegex(lines[0], words)
                self.assert_no_key(lines[0], good, other)
                # What is wrong, and behind it what to do.
                self.assertRegex(lines[0], r"\Aswitchboard serve: .+[:;,] .+", "no cure")


class Redirecting(TLSTest):
    def serve_both(self, **settings):
        server = self.serve("ecdsa", "--redirect-from", "0", **settings)
        return server, server.printed_port("redirects .*")

    def test_browsers_are_led_on(self):
        server, port = self.serve_both(public_url=None)
        for method in ((), ("--head",)):
            code, _, said = curl(self.authority, port, *method, scheme="http", path="/health?a=b%20c&d")
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"< HTTP/1\.1 301 ")
            self.assertIn(f"< Location: https://{NAME}:{server.port}/health?a=b%20c&d", said)
        code, body, said = curl(self.authority, port, "--location", scheme="http")
        self.assertEqual((code, body), (0, '{"status":"ok"}\n'), said)

    def test_the_public_url_wins(self):
        _, port = self.serve_both()
        code, _, said = curl(self.authority, port, scheme="http", path="/users?a=b")
        self.assertEqual(code, 0, said)
        self.assertIn("< Location: https://calls.example.com/users?a=b", said)

    def test_webhooks_are_told_the_right_url(self):
        server, port = self.serve_both(public_url=None)
        webhooks = [("POST", "/voice/event"), ("GET", "/voice/answer"), ("HEAD", "/voice/answer")]
        for method, path in [*webhooks, ("POST", "/users"), ("DELETE", "/")]:
            arguments = ["--head"] if method == "HEAD" else ["--request", method]
            if method == "POST":
                arguments += ["--data", "{}"]
            code, body, said = curl(self.authority, port, *arguments, scheme="http", path=path)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"< HTTP/1\.1 421 ", f"{method} {path}")
            self.assertIn("< Content-Type: application/problem+json", said)
            if method != "HEAD":
                problem = json.loads(body)
                self.assertEqual(problem["status"], 421)
                # Nothing of the request is repeated, so it is the port that is named.
                self.assertIn("https://", problem["detail"])
                self.assertIn(f"port {server.port}", problem["detail"])
        self.assertEqual(server.events(), [])

    def test_webhooks_are_told_the_public_url(self):
        for url in ("https://calls.example.com", "https://calls.example.com:8443"):
            _, port = self.serve_both(public_url=url)
            code, body, said = curl(self.authority, port, "--data", "{}", scheme="http", path="/voice/event")
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"< HTTP/1\.1 421 ")
            self.assertIn(url, json.loads(body)["detail"])

    def test_no_host_of_an_attackers_making_is_led_to(self):
        _, port = self.serve_both(public_url=None)
        for host in ("evil.example\\@a", "a b", "user@evil.example", "evil.example/x", "a\"><script>", ""):
            with socket.create_connection(("127.0.0.1", port), timeout=support.SECONDS) as plain:
                plain.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                answer = b"".join(iter(lambda: plain.recv(65536), b""))
            self.assertRegex(answer, rb"\AHTTP/1\.1 [34]\d\d ", host)
            location = re.search(rb"(?i)\r\nlocation: ([^\r]*)", answer)
            if location:
                self.assertRegex(location[1], rb"\Ahttps://(127\.0\.0\.1|localhost)(:\d+)?/", host)


class Scanner(TLSTest):
    def scan(self, server):
        location = sslyze.ServerNetworkLocation(hostname=NAME, ip_address="127.0.0.1", port=server.port)
        arguments = sslyze.ScanCommandsExtraArguments(
            certificate_info=sslyze.CertificateInfoExtraArgument(custom_ca_file=self.authority.root_file))
        with warnings.catch_warnings():
            # One of the public roots that it brings along has a serial number of 0.
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            scanner = sslyze.Scanner()
            scanner.queue_scans([sslyze.ServerScanRequest(server_location=location, scan_commands_extra_arguments=arguments)])
            result = next(iter(scanner.get_results()))
        self.assertEqual(result.scan_status, sslyze.ServerScanStatusEnum.COMPLETED, result.connectivity_error_trace)
        for command in sslyze.ScanCommand:
            attempt = getattr(result.scan_result, command.value)
            self.assertEqual(attempt.status, sslyze.ScanCommandAttemptStatusEnum.COMPLETED, f"{command.value}: {attempt.error_trace}")
        return result

    @with_each_kind()
    def test_sslyze_finds_nothing(self, kind, server):
        scan = self.scan(server)
        found = scan.scan_result
        for version in ("ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1"):
            self.assertEqual(getattr(found, f"{version}_cipher_suites").result.accepted_cipher_suites, [], version)
        accepted = {suite.cipher_suite.openssl_name for suite in found.tls_1_2_cipher_suites.result.accepted_cipher_suites}
        self.assertEqual(accepted, set(SUITES[kind]))
        accepted = {suite.cipher_suite.openssl_name for suite in found.tls_1_3_cipher_suites.result.accepted_cipher_suites}
        self.assertEqual(accepted, set(SUITES_13))
        self.assertEqual({curve.name for curve in found.elliptic_curves.result.supported_curves}, {"X25519", "secp256r1", "secp384r1"})
        self.assertLessEqual({"X448", "secp521r1"}, {curve.name for curve in found.elliptic_curves.result.rejected_curves})
        self.assertFalse(found.tls_compression.result.supports_compression)
        self.assertFalse(found.tls_1_3_early_data.result.supports_early_data)
        self.assertFalse(found.openssl_ccs_injection.result.is_vulnerable_to_ccs_injection)
        self.assertFalse(found.heartbleed.result.is_vulnerable_to_heartbleed)
        self.assertEqual(found.robot.result.robot_result, sslyze.RobotScanResultEnum.NOT_VULNERABLE_RSA_NOT_SUPPORTED)
        self.assertTrue(found.session_renegotiation.result.supports_secure_renegotiation)
        self.assertFalse(found.session_renegotiation.result.is_vulnerable_to_client_renegotiation_dos)
        self.assertTrue(found.tls_fallback_scsv.result.supports_fallback_scsv)
        self.assertTrue(found.tls_extended_master_secret.result.supports_ems_extension)
        resumption = found.session_resumption.result
        self.assertEqual(resumption.tls_ticket_resumption_result, sslyze.TlsResumptionSupportEnum.FULLY_SUPPORTED)
        self.assertEqual(resumption.session_id_resumption_result, sslyze.TlsResumptionSupportEnum.NOT_SUPPORTED)
        self.assertIsNone(found.http_headers.result.http_error_trace)
        deployment, = found.certificate_info.result.certificate_deployments
        self.assertEqual(deployment.received_certificate_chain[0].serial_number, self.pairs[kind].serial)
        self.assertIsNotNone(deployment.verified_certificate_chain)
        self.assertTrue(deployment.received_chain_has_valid_order)
        self.assertFalse(deployment.received_chain_contains_anchor_certificate)
        self.assertEqual(self.issues(scan), set())

    def issues(self, scan):
        """What Mozilla's intermediate profile finds. It wants RSA certificates signed with RSA, which is our authority's affair."""
        profile = MozillaTlsConfiguration.get(TlsConfigurationEnum.MOZILLA_INTERMEDIATE)
        try:
            check_server_against_tls_configuration(scan, profile)
        except ServerNotCompliantWithTlsConfiguration as found:
            return set(found.issues.values())
        return set()
