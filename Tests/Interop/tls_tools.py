# SPDX-License-Identifier: MIT
#
# What the tests of TLS share: a small authority that makes certificates, the commands `openssl s_client` and `curl`, and ClientHellos by
# hand. By hand because no library of today can offer SSL 3.0, RC4 or an export suite, and none can offer all 65,536 suites at once: whatever
# answers only an alert to that has no weak one, named or not.

import base64
import datetime
import os
import re
import socket
import struct
import subprocess
from pathlib import Path

import support
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "calls.test"
# Mozilla's intermediate profile without the DHE suites, by their numbers.
SUITES = {
    "ecdsa": {"ECDHE-ECDSA-AES128-GCM-SHA256": 0xC02B, "ECDHE-ECDSA-AES256-GCM-SHA384": 0xC02C, "ECDHE-ECDSA-CHACHA20-POLY1305": 0xCCA9},
    "rsa": {"ECDHE-RSA-AES128-GCM-SHA256": 0xC02F, "ECDHE-RSA-AES256-GCM-SHA384": 0xC030, "ECDHE-RSA-CHACHA20-POLY1305": 0xCCA8},
}
SUITES_13 = {"TLS_AES_128_GCM_SHA256": 0x1301, "TLS_AES_256_GCM_SHA384": 0x1302, "TLS_CHACHA20_POLY1305_SHA256": 0x1303}
GROUPS = {"X25519": 29, "P-256": 23, "P-384": 24}
FALLBACK_SCSV = 0x5600
SSL3, TLS10, TLS11, TLS12, TLS13 = 0x0300, 0x0301, 0x0302, 0x0303, 0x0304
# What an alert is called in RFC 8446 §6.2, as far as one is expected here.
ALERTS = {40: "handshake_failure", 70: "protocol_version", 86: "inappropriate_fallback", 120: "no_application_protocol"}


class Authority:
    """A root with an intermediate, in a folder. ECDSA leaves come with the intermediate, so a client that knows the root alone must be
    sent it; those of RSA are the root's own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.root_key, self.middle_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self.root = self.certificate("Root of a test", self.root_key, None, None, is_authority=True)
        self.middle = self.certificate("Intermediate of a test", self.middle_key, self.root, self.root_key, is_authority=True)
        self.root_file = self.folder / "root.pem"
        self.root_file.write_bytes(pem(self.root))

    def certificate(self, name, key, issuer, issuer_key, is_authority=False, ends=90):
        """`ends` is in days from now; below 0 it has expired."""
        now = datetime.datetime.now(datetime.timezone.utc)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer_name = issuer.subject if issuer else subject
        issuer_key = issuer_key or key
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(issuer_name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=9))
            .not_valid_after(now + datetime.timedelta(days=ends))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=not is_authority, key_cert_sign=is_authority, crl_sign=is_authority, content_commitment=False,
                    key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False),
                critical=True))
        if not is_authority:
            names = x509.SubjectAlternativeName([x509.DNSName(NAME), x509.DNSName("localhost")])
            builder = builder.add_extension(names, critical=False)
            builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def pair(self, kind, name=None, ends=90, key=None):
        """Files with a fresh certificate and its key."""
        makers = {
            "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
            "rsa": lambda: rsa.generate_private_key(65537, 2048),
            "ed25519": ed25519.Ed25519PrivateKey.generate,
        }
        key = key or makers[kind]()
        issuer, issuer_key = (self.root, self.root_key) if kind == "rsa" else (self.middle, self.middle_key)
        leaf = self.certificate(NAME, key, issuer, issuer_key, ends=ends)
        return Pair(self.folder, name or kind, leaf, [] if kind == "rsa" else [self.middle], key)


class Pair:
    def __init__(self, folder, name, leaf, chain, key):
        self.serial, self.key = leaf.serial_number, key
        self.certificate_file, self.key_file = folder / f"{name}.pem", folder / f"{name}.key"
        self.certificate_file.write_bytes(b"".join(map(pem, [leaf, *chain])))
        self.key_file.write_bytes(key_pem(key))
        self.key_file.chmod(0o600)

    @property
    def flags(self):
        return ["--tls-cert", str(self.certificate_file), "--tls-key", str(self.key_file)]

    def replaced_by(self, other):
        """The way a client of ACME does: each file is put in place whole, one behind the other."""
        for mine, its in ((self.key_file, other.key_file), (self.certificate_file, other.certificate_file)):
            new = mine.with_suffix(".new")
            new.write_bytes(its.read_bytes())
            new.chmod(0o600)
            os.replace(new, mine)


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key, form=serialization.PrivateFormat.PKCS8, password=None):
    protection = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, protection)


def environment():
    # Of the environment only what is needed: SSL_CERT_FILE or a proxy in it would change what is tested.
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def s_client(authority, port, *arguments, text=""):
    """(exit code, what it printed). `text` is read at once, and the pipe then left open, so that it goes on until the server closes."""
    command = [
        "openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", NAME, "-CAfile", str(authority.root_file),
        "-verify_return_error", *map(str, arguments),
    ]
    reader, writer = os.pipe()
    try:
        os.write(writer, text.encode())
        done = subprocess.run(
            command, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
            timeout=support.SECONDS, env=environment())
    finally:
        os.close(reader)
        os.close(writer)
    return done.returncode, done.stdout


def curl(authority, port, *arguments, path="/health", scheme="https"):
    """(exit code, body, what -v printed)."""
    command = [
        "curl", "--disable", "--silent", "--verbose", "--max-time", str(support.SECONDS), "--cacert", str(authority.root_file),
        "--connect-to", f"{NAME}::127.0.0.1:", *map(str, arguments),
    ]
    if path is not None:
        command.append(f"{scheme}://{NAME}:{port}{path}")
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", timeout=2 * support.SECONDS, env=environment())
    return done.returncode, done.stdout, done.stderr


def vector(width, content):
    return len(content).to_bytes(width, "big") + content


def numbers(values):
    values = list(values)
    return struct.pack(f">{len(values)}H", *values)


def extension(kind, content):
    return struct.pack(">H", kind) + vector(2, content)


def client_hello(version, suites, groups=tuple(GROUPS.values()), alpn=()):
    """The records of a ClientHello. That of TLS 1.3 has no key share, so a server that wants one of the groups asks for it."""
    extensions = [
        extension(0, vector(2, b"\0" + vector(2, NAME.encode()))),
        extension(10, vector(2, numbers(groups))),
        extension(11, vector(1, b"\0")),
        extension(13, vector(2, numbers([0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0203, 0x0201]))),
    ]
    if alpn:
        extensions.append(extension(16, vector(2, b"".join(vector(1, name) for name in alpn))))
    if version == TLS13:
        extensions += [extension(43, vector(1, numbers([TLS13]))), extension(51, vector(2, b""))]
    body = numbers([min(version, TLS12)]) + os.urandom(32) + vector(1, b"") + vector(2, numbers(suites)) + vector(1, b"\0")
    if version > SSL3:
        body += vector(2, b"".join(extensions))
    message = b"\1" + vector(3, body)
    pieces = [message[place:place + 16384] for place in range(0, len(message), 16384)]
    return b"".join(b"\x16" + numbers([min(version, TLS10)]) + vector(2, piece) for piece in pieces)


def answer_to(port, sent):
    """What a server says to these bytes first: the name of a fatal alert, (version, suite) of its hello, or "closed"."""
    with socket.create_connection(("127.0.0.1", port), timeout=support.SECONDS) as connection:
        try:
            connection.sendall(sent)
        except ConnectionError:
            # It may have said its alert before it read all.
            pass
        received = b""
        while len(received) < 5 or len(received) < 5 + int.from_bytes(received[3:5], "big"):
            try:
                piece = connection.recv(65536)
            except ConnectionError:
                piece = b""
            if not piece:
                return "closed"
            received += piece
    kind, record = received[0], received[5:]
    if kind == 21 and len(record) == 2:
        return ALERTS.get(record[1], f"alert {record[1]}") if record[0] == 2 else f"warning {record[1]}"
    if kind == 22 and record[0] == 2:
        after_id = 4 + 2 + 32 + 1 + record[38]
        # Of TLS 1.3 it is an extension that says the version.
        version = TLS13 if b"\x00\x2b\x00\x02\x03\x04" in record else int.from_bytes(record[4:6], "big")
        return version, int.from_bytes(record[after_id:after_id + 2], "big")
    raise AssertionError(f"no TLS: {received[:80]!r}")


class Session:
    """A session that s_client wrote: DER of OpenSSL's SSL_SESSION (ssl/ssl_asn1.c), of which the ticket and the secret are wanted."""

    def __init__(self, file):
        text = Path(file).read_text(encoding="ascii")
        self.der = base64.b64decode(re.search(r"-----BEGIN[^\n]*\n(.*?)-----END", text, re.S)[1])
        start, end = self.content(0)
        elements = []
        while start < end:
            elements.append(start)
            start = self.content(start)[1]
        # Version, version of TLS, suite, session id, secret; the ticket is [10].
        self.secret = self.content(elements[4])
        self.ticket = self.content(self.content(next(place for place in elements if self.der[place] == 0xAA))[0])

    def content(self, place):
        """Where the content of the element begins and ends that begins here."""
        length, start = self.der[place + 1], place + 2
        if length & 0x80:
            start, length = start + (length & 0x7F), int.from_bytes(self.der[start:start + (length & 0x7F)], "big")
        return start, start + length

    def write(self, file, changes):
        """With these bytes in other places' stead: {place: byte}."""
        der = bytearray(self.der)
        for place, byte in changes.items():
            der[place] = byte
        text = base64.encodebytes(bytes(der)).decode()
        Path(file).write_text(f"-----BEGIN SSL SESSION PARAMETERS-----\n{text}-----END SSL SESSION PARAMETERS-----\n", encoding="ascii")
