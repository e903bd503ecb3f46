# SPDX-License-Identifier: MIT
#
# What the tests share: the vectors of the Swift tests, and the built `switchboard` as a command and as a server.

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NCCOS = ROOT / "nccos"
VECTORS = ROOT / "Tests/NCCOTests/Vectors"
FLOW_VECTORS = ROOT / "Tests/SwitchboardTests/Vectors/flows"
# Whatever hangs shall fail and not hang the run.
SECONDS = 30


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def files(folder):
    """The JSON files of a folder, sorted; none where there is no such folder."""
    return sorted(folder.glob("*.json"))


def folder_vectors(*names):
    """(name, NCCO) for each file of these folders of vectors; `pay` is no action any more, and its examples are vectors of lint."""
    for name in names:
        for path in files(VECTORS / name):
            if not path.name.startswith("pay"):
                yield f"{name}/{path.name}", read(path)


def encoded_vectors():
    """(name, NCCO) for each value that the Swift tests encode."""
    for vector in read(VECTORS / "encoded.json"):
        yield f"encoded.json {vector['name']}", json.loads(vector["json"])


def lenient_vectors():
    """(name, NCCO) for each form that is taken and put right, as far as Python can write it again: it reads -1e400 as infinite."""
    for vector in read(VECTORS / "lenient.json"):
        if "e400" not in vector["json"]:
            yield f"lenient.json {vector['name']}", json.loads(vector["json"])


def python_vectors():
    """(name, NCCO) for what `make_vectors.py` wrote."""
    for index, ncco in enumerate(read(VECTORS / "python.json")):
        yield f"python.json {index}", ncco


def switchboard(*arguments, text=None):
    """Runs a command to its end: (exit code, output)."""
    command = [os.environ["SWITCHBOARD"], *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", timeout=SECONDS, env={})
    return done.returncode, done.stdout


def lint(ncco):
    """What `switchboard lint` finds in an NCCO, as its JSON says it."""
    code, output = switchboard("lint", "--format", "json", "-", text=json.dumps(ncco))
    report = json.loads(output)
    if code != (1 if report["errors"] else 0):
        raise AssertionError(f"exit code {code} with {report['errors']} errors")
    return report["findings"]


class Simulator:
    """`switchboard simulate` on a port of its own; a context. `settings` are those that it prints."""

    def __init__(self, *arguments, secret=None):
        self.arguments = arguments
        self.environment = {} if secret is None else {"VONAGE_SIGNATURE_SECRET": secret}

    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="switchboard-interop-")
        command = [os.environ["SWITCHBOARD"], "simulate", "--host", "127.0.0.1", "--port", "0", *self.arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env={"TMPDIR": self.work} | self.environment)
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        self.settings = {}
        for line in self.process.stdout:
            name, equal, value = line.strip().partition("=")
            if equal:
                self.settings[name] = value
            if name == "VONAGE_PRIVATE_KEY":
                break
        watchdog.cancel()
        if "VONAGE_PRIVATE_KEY" not in self.settings:
            self.__exit__()
            raise AssertionError("no simulator")
        self.host = self.settings["VONAGE_API_URL"].removeprefix("http://")
        return self

    def lines(self, is_last, count=1):
        """What it prints of its calls, up to and with the line that is the last so often."""
        lines = []
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        for line in self.process.stdout:
            if line[:6].strip("0123456789abcdef") == "" and line[6:7] == " ":
                lines.append(line.rstrip("\n"))
                count -= is_last(line)
            if count == 0:
                watchdog.cancel()
                return lines
        raise AssertionError(f"the simulator ended: {lines}")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(SECONDS)
        self.process.stdout.close()
        shutil.rmtree(self.work)


class Server:
    """`switchboard serve` on a port of its own, with a folder of flows; a context."""

    def __init__(self, nccos, *arguments, secret=None, public_url="https://calls.example.com"):
        self.nccos = nccos
        self.arguments = arguments if public_url is None else ("--public-url", public_url, *arguments)
        self.environment = {} if secret is None else {"VONAGE_SIGNATURE_SECRET": secret}

    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="switchboard-interop-")
        command = [
            os.environ["SWITCHBOARD"], "serve", "--host", "127.0.0.1", "--port", "0", "--nccos", str(self.nccos),
            "--events", self.work + "/events", *self.arguments,
        ]
        self.errors = open(self.work + "/errors", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, encoding="utf-8", env=self.environment)
        try:
            self.port = self.printed_port("listens on .*")
        except AssertionError:
            self.__exit__()
            raise
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        return self

    def __exit__(self, *_):
        if hasattr(self, "connection"):
            self.connection.close()
        self.process.kill()
        self.process.wait(SECONDS)
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.work)

    def printed_port(self, before):
        """The port that the start prints behind this, in a line that has not been read yet."""
        # A read has no time limit of its own.
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(before + r":(\d+)", line):
                watchdog.cancel()
                return int(found[1])
        watchdog.cancel()
        self.errors.seek(0)
        raise AssertionError(f"no server: {''.join(lines)}{self.errors.read()}")

    def events(self):
        """The lines of the event log so far."""
        return Path(self.work, "events/events.jsonl").read_text(encoding="utf-8").splitlines()

    def ask(self, method, path, body=None):
        """(flow, rule and template as `X-Switchboard-Flow` has them, warning or None, NCCO)."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read().decode("utf-8")
        if response.status != 200 or not text:
            raise AssertionError(f"{method} {path}: {response.status} {text!r}")
        return response.getheader("X-Switchboard-Flow"), response.getheader("X-Switchboard-Warning"), json.loads(text)
