# SPDX-License-Identifier: MIT
#
# What the tests share: the built `switchboard` as a server with Vonage played beside it, and a browser that is logged in, of which every test
# wants that it says no error and asks no other host.

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "browser-test-admin-token-0123456789abcdefgh"
NUMBER = "14155550100"
# Whatever hangs shall fail and not hang the run.
SECONDS = 30


def switchboard(*arguments, text=None):
    """Runs a command to its end: (exit code, output)."""
    done = subprocess.run(
        [os.environ["SWITCHBOARD"], *map(str, arguments)], input=text, capture_output=True, encoding="utf-8", timeout=SECONDS, env={})
    return done.returncode, done.stdout + done.stderr


def moment(seconds=0):
    """A time so many seconds from now, as Vonage writes it."""
    at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def http_client(server):
    """A connection that is kept."""
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)


class Process:
    """A command that goes on, and what it printed until a line fitted."""

    def __init__(self, arguments, pattern, work, **environment):
        self.errors = open(f"{work}/errors", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [os.environ["SWITCHBOARD"], *arguments], stdout=subprocess.PIPE, stderr=self.errors, encoding="utf-8", env=environment)
        # A read has no time limit of its own.
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        self.lines = []
        self.found = None
        self.drain = None
        for line in self.process.stdout:
            self.lines.append(line)
            self.found = re.search(pattern, line)
            if self.found:
                break
        watchdog.cancel()
        if not self.found:
            self.errors.seek(0)
            said = "".join(self.lines) + self.errors.read()
            self.end()
            raise AssertionError(f"{arguments[0]} did not start: {said}")
        # A full pipe would stop it.
        self.drain = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.drain.start()

    def end(self):
        self.process.kill()
        self.process.wait(SECONDS)
        if self.drain:
            self.drain.join(SECONDS)
        self.process.stdout.close()
        self.errors.close()


class Server:
    """`switchboard serve` with the shipped flows, and Vonage played by `switchboard simulate`."""

    def __init__(self, *arguments):
        self.work = tempfile.mkdtemp(prefix="switchboard-browser-")
        self.arguments = arguments
        self.port = 0
        self.simulator = Process(
            ["simulate", "--host", "127.0.0.1", "--port", "0"], r"VONAGE_PRIVATE_KEY=(\S+)", self.work, TMPDIR=self.work)
        self.key = self.simulator.found[1]
        pairs = (line.strip().partition("=") for line in self.simulator.lines)
        self.settings = {name: value for name, equal, value in pairs if equal and name.startswith("VONAGE_")}
        self.start()

    def start(self):
        self.server = Process(
            ["serve", "--host", "127.0.0.1", "--port", str(self.port), "--nccos", str(ROOT / "nccos"), "--events", f"{self.work}/events",
             *self.arguments], r"listens on .*:(\d+)", self.work, SWITCHBOARD_ADMIN_TOKEN=TOKEN, **self.settings)
        self.port = int(self.server.found[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.server.end()

    def end(self):
        self.stop()
        self.simulator.end()
        shutil.rmtree(self.work)

    def ask(self, method, path, body=None, **headers):
        """(status, body) of one request."""
        connection = http_client(self)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json", **headers} if text else headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8")
        finally:
            connection.close()

    def event(self, call, status="started", leg=None, seconds=0, **fields):
        """Sends an event of a call, as Vonage does."""
        body = {
            "status": status, "uuid": leg or f"{call}-1", "conversation_uuid": call, "from": "447700900123", "to": NUMBER,
            "direction": "inbound", "timestamp": moment(seconds), **fields,
        }
        code, text = self.ask("POST", "/voice/event", {name: value for name, value in body.items() if value is not None})
        if code != 200:
            raise AssertionError(f"event: {code} {text}")

    def answer(self, call, flow="answer", **fields):
        query = {"from": "447700900123", "to": NUMBER, "conversation_uuid": call, "uuid": f"{call}-1", **fields}
        return self.ask("GET", f"/voice/{flow}?{urlencode(query)}")

    def play(self, *arguments):
        """Plays a call by `switchboard call`; its name."""
        _, output = switchboard("call", "--url", self.url, "--json", *arguments)
        return re.search(r"CON-[0-9a-f-]+", output)[0]


class Browser:
    """Chromium without a window."""

    def __init__(self, width=1280, height=860, scheme="light"):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         f"--window-size={width},{height}", "--disable-background-networking", "--disable-component-update"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(SECONDS)
        self.driver.set_script_timeout(SECONDS)
        self.size(width, height)
        self.scheme(scheme)

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def scheme(self, name):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def cdp(self, method, **parameters):
        return self.driver.execute_cdp_cmd(method, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def later(self, script, *arguments):
        """The value that the script's `done` is called with."""
        return self.driver.execute_async_script(f"const done = arguments[arguments.length - 1]; {script}", *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def until(self, what, message, seconds=SECONDS / 2):
        """The first value of `what()` that is true."""
        wait = WebDriverWait(self.driver, seconds, poll_frequency=0.02, ignored_exceptions=[StaleElementReferenceException, IndexError])
        return wait.until(lambda _: what(), message)

    def one(self, selector, text=None):
        """The first element that fits and is seen, once there is one."""
        def find():
            for element in self.all(selector):
                if element.is_displayed() and (text is None or text in element.text):
                    return element
            return None
        return self.until(find, f"no {selector} with {text!r}")

    def click(self, selector, text=None):
        """Clicks it, once it is there; what is drawn anew meanwhile is looked for again."""
        def done():
            self.one(selector, text).click()
            return True
        self.until(done, f"{selector} cannot be clicked")

    def gone(self, selector):
        self.until(lambda: not any(element.is_displayed() for element in self.all(selector)), f"{selector} is still there")

    def field(self, label, inside="body"):
        """The control with this label."""
        return self.until(lambda: self.run(
            "return [...document.querySelectorAll(arguments[1] + ' label')].find((l) => l.textContent.trim() === arguments[0])?.control", label,
            inside), f"no field {label}")

    def fill(self, label, text, inside="body"):
        control = self.field(label, inside)
        if control.tag_name == "select":
            control.find_element(By.CSS_SELECTOR, f"option[value='{text}']").click()
            return
        control.clear()
        control.send_keys(text)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def go(self, address):
        self.run("location.hash = arguments[0]", address)

    def clipboard(self):
        return self.later("navigator.clipboard.readText().then(done, (error) => done(String(error)))")

    def rows(self):
        """The names of the calls in the list, from the top, of those that are drawn."""
        return self.run("""return [...document.querySelectorAll('.row')].sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)
            .map((row) => row.call.conversation_uuid)""")

    def log_in(self, server):
        self.driver.get(f"{server.url}/login#{TOKEN}")
        self.one("#live", "live")
        self.cdp("Browser.grantPermissions", origin=server.url, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])


class PageTest(unittest.TestCase):
    """A server and a browser for all tests of a class."""

    arguments = ("--number", NUMBER)
    width, height = 1280, 860

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments)
        cls.addClassCleanup(cls.server.end)
        cls.browser = Browser(cls.width, cls.height)
        cls.addClassCleanup(cls.browser.driver.quit)
        cls.browser.log_in(cls.server)

    def setUp(self):
        self.expected = []
        self.browser.run("document.querySelector('dialog[open]')?.close()")
        self.browser.go("#/calls")
        self.browser.one(".search")

    def tearDown(self):
        for entry in self.browser.driver.get_log("browser"):
            if entry["level"] == "SEVERE" and not any(part in entry["message"] for part in self.expected):
                self.fail(f"the browser says {entry['message']}")
        own = f"127.0.0.1:{self.server.port}"
        for entry in self.browser.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlsplit(message["params"]["request"]["url"])
                if url.scheme != "data" and url.netloc != own:
                    self.fail(f"another host was asked: {url.geturl()}")

    def open(self, call):
        """Opens a call by its address, once its ladder is drawn."""
        self.browser.go(f"#/calls/{call}")
        return self.browser.one(".ladder .rung")

    def shot(self, name):
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            self.browser.driver.save_screenshot(f"{folder}/{name}.png")


__all__ = ["Browser", "By", "Keys", "NUMBER", "PageTest", "Server", "TOKEN", "http_client", "moment", "switchboard", "time"]
