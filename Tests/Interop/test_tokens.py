# SPDX-License-Identifier: MIT
#
# Tokens against Vonage's own Python package and PyJWT, in both directions: what is made here must be taken there, what is made there must be
# read here, and what an attacker would make must be refused here, whatever it is, within a time.

import base64
import hashlib
import hmac
import json
import os
import subprocess
import tempfile
import time
import unittest
import uuid

import jwt
import support
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from vonage_jwt import JwtClient
from vonage_jwt.verify_jwt import verify_signature

KEYS = support.ROOT / "Tests/VonageAuthTests/Vectors/keys"
PRIVATE = KEYS / "throw-away-pkcs8.pem"
PUBLIC = KEYS / "throw-away-public.pem"
APPLICATION = "11111111-2222-4333-8444-555555555555"
PATHS = ["users", "conversations", "sessions", "devices", "image", "media", "applications", "push", "knocking", "legs", "rtc"]
ACL = {"paths": {f"/*/{name}/**": {} for name in PATHS}}
# Longer than any answer takes on a busy machine, and much shorter than an attack by size would.
SECONDS = 5


def token(*arguments, text=None, with_key=True):
    """Runs `switchboard token` in an empty folder: (exit code, output, errors)."""
    environment = {"VONAGE_APPLICATION_ID": APPLICATION}
    if with_key:
        # Not its path: that a checkout lets everybody read the file would be warned of.
        environment["VONAGE_PRIVATE_KEY"] = PRIVATE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["SWITCHBOARD"], "token", *map(str, arguments)]
        done = subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8", timeout=support.SECONDS, env=environment, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def made(*arguments):
    code, output, errors = token(*arguments)
    if (code, errors) != (0, ""):
        raise AssertionError(f"{code} {errors}")
    return output.rstrip("\n")


def inspected(text, key=PUBLIC):
    """(exit code, what `inspect --json` says); the token goes in by standard input."""
    began = time.monotonic()
    code, output, errors = token("inspect", "--json", "-", *(["--public-key-file", key] if key else []), text=text, with_key=False)
    took = time.monotonic() - began
    if errors or took > SECONDS:
        raise AssertionError(f"{took} s, {errors}")
    return code, json.loads(output)


def encode(part):
    text = part if isinstance(part, bytes) else (part if isinstance(part, str) else json.dumps(part)).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def claims(**changes):
    now = int(time.time())
    all_claims = {"application_id": APPLICATION, "iat": now, "exp": now + 900, "jti": str(uuid.uuid4()), "sub": "Alice", "acl": ACL}
    return {**all_claims, **changes}


def signed(payload, header=None, key=None):
    """RS256 over any header and payload, which a library would refuse to write."""
    text = f"{encode(header or {'alg': 'RS256', 'typ': 'JWT'})}.{encode(payload)}"
    key = key or serialization.load_pem_private_key(PRIVATE.read_bytes(), None)
    return f"{text}.{encode(jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).sign(text.encode(), key))}"


def with_secret(header, payload, secret, digest=hashlib.sha256):
    text = f"{encode(header)}.{encode(payload)}"
    return f"{text}.{encode(hmac.new(secret, text.encode(), digest).digest())}"


class MadeHere(unittest.TestCase):
    def decoded(self, text):
        header = jwt.get_unverified_header(text)
        self.assertEqual(header, {"alg": "RS256", "typ": "JWT"})
        return jwt.decode(text, PUBLIC.read_text(), algorithms=["RS256"], options={"require": ["exp", "iat", "jti"], "verify_sub": True})

    def test_a_user_token_is_taken(self):
        for name in ["Alice", "Zoë \"/\\ 東京", "NAM-77"]:
            found = self.decoded(made("user", name))
            self.assertEqual(list(found), ["application_id", "iat", "exp", "jti", "sub", "acl"])
            self.assertEqual((found["sub"], found["acl"], found["exp"] - found["iat"]), (name, ACL, 21600))
            self.assertEqual(list(found["acl"]["paths"]), list(ACL["paths"]))
            self.assertEqual(uuid.UUID(found["jti"]).version, 4)
            self.assertLess(abs(found["iat"] - time.time()), 60)

    def test_an_application_token_is_taken(self):
        found = self.decoded(made("application", "--ttl", "1h"))
        self.assertEqual((list(found), found["exp"] - found["iat"]), (["application_id", "iat", "exp", "jti"], 3600))

    def test_a_video_token_is_taken(self):
        found = self.decoded(made("video", "1_MX4", "--role", "moderator", "--data", "a b", "--ttl", "30d"))
        self.assertEqual(found["exp"] - found["iat"], 30 * 86400)
        for name, value in {"scope": "session.connect", "session_id": "1_MX4", "role": "moderator", "connection_data": "a b",
                            "initial_layout_class_list": "", "sub": "video", "acl": {"paths": {"/session/**": {}}}}.items():
            self.assertEqual(found[name], value)

    def test_the_signature_is_the_one_that_the_package_makes(self):
        text = made("user", "Alice", "--acl", "/*/legs/**")
        again = signed(base64.urlsafe_b64decode(text.split(".")[1] + "=="), b'{"alg":"RS256","typ":"JWT"}')
        self.assertEqual(text, again)

    def test_no_other_key_takes_it(self):
        with self.assertRaises(jwt.InvalidSignatureError):
            jwt.decode(made("user", "Alice"), public(KEYS / "throw-away-other.pem"), algorithms=["RS256"])


def public(path):
    key = serialization.load_pem_private_key(path.read_bytes(), None).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


class MadeThere(unittest.TestCase):
    def setUp(self):
        self.client = JwtClient(APPLICATION, str(PRIVATE))

    def test_an_application_token_is_valid(self):
        code, found = inspected(self.client.generate_application_jwt().decode())
        self.assertEqual((code, found["kind"], found["signature"], found["valid"], found["findings"]), (0, "application", "verified", True, []))

    def test_a_user_token_is_valid(self):
        code, found = inspected(self.client.generate_application_jwt({"sub": "Alice", "acl": ACL}).decode())
        self.assertEqual((code, found["kind"], found["valid"], found["findings"]), (0, "user", True, []))

    def test_what_its_video_tokens_have_wrong_is_named(self):
        # As `generate_client_token` of vonage-video writes them.
        text = self.client.generate_application_jwt({
            "scope": "session.connect", "session_id": "1_MX4", "role": "publisher", "initial_layout_class_list": ["focus"],
            "subject": "video", "acl": {"paths": {"/session/**": {}}},
        }).decode()
        code, found = inspected(text)
        self.assertEqual((code, found["kind"], found["signature"]), (1, "video", "verified"))
        self.assertEqual({f["name"] for f in found["findings"] if f["severity"] == "error"}, {"subject", "initial_layout_class_list"})

    def test_without_a_key_nothing_is_called_valid(self):
        code, found = inspected(self.client.generate_application_jwt().decode(), key=None)
        self.assertEqual((code, found["signature"], found["valid"]), (0, "not checked", None))

    def test_a_webhooks_token_is_pointed_elsewhere(self):
        secret = "s" * 32
        text = jwt.encode({"iss": "Vonage", "iat": int(time.time()), "jti": "1", "api_key": "abcd1234"}, secret, "HS256")
        self.assertTrue(verify_signature(text, secret))
        code, found = inspected(text)
        self.assertEqual((code, found["kind"], found["valid"]), (1, "webhook", False))
        self.assertIn("verify-webhook", found["findings"][0]["message"])


class Forged(unittest.TestCase):
    def forgeries(self):
        good = signed(claims())
        header, payload, signature = good.split(".")
        mine = rsa.generate_private_key(65537, 2048)
        jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(mine.public_key()))
        pem = PUBLIC.read_bytes()
        for name in ["none", "None", "NONE", "nOnE", ""]:
            yield f"alg {name} without a signature", f"{encode({'alg': name})}.{encode(claims())}."
            yield f"alg {name} with a signature", f"{encode({'alg': name})}.{encode(claims())}.{signature}"
        for name, digest in [("HS256", hashlib.sha256), ("HS384", hashlib.sha384), ("HS512", hashlib.sha512)]:
            yield f"{name} by the public key's PEM", with_secret({"alg": name, "typ": "JWT"}, claims(), pem, digest)
            yield f"{name} by a secret", with_secret({"alg": name}, claims(), b"secret", digest)
        yield "RS256 with an HMAC for a signature", with_secret({"alg": "RS256", "typ": "JWT"}, claims(), b"secret")
        yield "RS256 with an HMAC by the public key", with_secret({"alg": "RS256", "typ": "JWT"}, claims(), pem)
        yield "another key", signed(claims(), key=mine)
        yield "a key of its own", signed(claims(), {"alg": "RS256", "jwk": jwk}, mine)
        yield "a key at an address", signed(claims(), {"alg": "RS256", "jku": "http://127.0.0.1:1/keys"}, mine)
        yield "a certificate of its own", signed(claims(), {"alg": "RS256", "x5c": ["AAAA"], "x5u": "http://127.0.0.1:1/"}, mine)
        for kid in ["../../../../dev/null", "/dev/zero", "' OR 1=1 --", "x" * 8000, {"a": 1}, None, PUBLIC.as_posix()]:
            yield f"kid {str(kid)[:20]}", signed(claims(), {"alg": "RS256", "kid": kid}, mine)
        yield "crit", signed(claims(), {"alg": "RS256", "crit": ["b64"], "b64": False})
        yield "alg twice", signed(claims(), '{"alg":"none","alg":"RS256"}')
        for cut in [1, 10, len(signature), len(signature) + 1, len(good) // 2, len(good) - 1]:
            yield f"cut by {cut}", good[:-cut]
        yield "nothing", ""
        for padding in ["=", "==", "A", "AAAA", ".", "..", ".x", "\0", "%00", " x"]:
            yield f"padded by {padding!r}", good + padding
        yield "padded parts", f"{header}==.{payload}==.{signature}=="
        yield "plain alphabet", f"{header}.{payload}.{'+/' + signature[2:]}"
        yield "1 MB of letters", "A" * 1_000_000
        yield "1 MB of dots", "." * 1_000_000
        yield "1 MB of payload", f"{header}.{encode('x' * 1_000_000)}.{signature}"
        yield "1 MB of signature", f"{header}.{payload}.{'A' * 1_000_000}"
        yield "three dots", f"{header}.{payload}.{signature}.{signature}"
        yield "only dots", "..."
        yield "an encrypted token's five parts", ".".join([header, payload, signature, payload, signature])
        # Well signed, and still nothing that may be used.
        text = json.dumps(claims())
        yield "sub twice", signed(text[:-1] + ',"sub":"Bob"}')
        yield "sub twice, escaped", signed(text[:-1] + ',"\\u0073ub":"Bob"}')
        yield "exp as text", signed(claims(exp=str(int(time.time()) + 900)))
        for end in [1e30, 10**400, -1, 0, 2**63, 2**63 - 1, 2**64, 253402300800, True, [], {}, None, 1.5, int(time.time()) * 1000]:
            yield f"exp {str(end)[:20]}", signed(json.dumps(claims(exp=end)))
        for begin in [1e30, 10**400, -1, 2**63 - 1, int(time.time()) + 3600, "now"]:
            yield f"iat {str(begin)[:20]}", signed(json.dumps(claims(iat=begin)))
        yield "ended", signed(claims(iat=int(time.time()) - 1000, exp=int(time.time()) - 1))
        yield "not yet", signed(claims(nbf=int(time.time()) + 600))
        yield "for another application", signed(claims(application_id=str(uuid.uuid4())))
        yield "deep", signed('{"a":' + "[" * 5000 + "]" * 5000 + "}")
        yield "no object", signed("[]")
        yield "no JSON", signed(b"\xff\xfe")
        yield "trailing text", signed(text + "x")

    def test_every_forgery_is_refused_in_bounded_time(self):
        for name, text in self.forgeries():
            with self.subTest(name):
                code, found = inspected(text)
                self.assertEqual((code, found["valid"]), (1, False))
                self.assertTrue(found["findings"])
                self.assertLess(len(json.dumps(found)), 100_000)

    def test_what_it_is_made_of_is_good(self):
        code, found = inspected(signed(claims()))
        self.assertEqual((code, found["valid"], found["findings"]), (0, True, []))

    def test_a_token_on_the_command_line_is_not_repeated_in_errors(self):
        text = signed(claims())
        for arguments in [[text], ["inspect", text, text], ["inspect", "--json", text[:50].replace("eyJ", "xyJ")], ["user", text, "x"]]:
            code, output, errors = token(*arguments)
            self.assertEqual((code, output), (64, ""))
            self.assertNotIn(text[3:30], errors)


if __name__ == "__main__":
    unittest.main()
