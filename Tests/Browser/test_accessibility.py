# SPDX-License-Identifier: MIT
#
# Whether everybody can use it: the rules of axe (WCAG 2.1 A and AA, and its best practices) in every view, by day and by night, on a wide screen
# and at 320 pixels, where nothing may be wider than the screen.

from pathlib import Path

import axe_core_python
from support import Keys, PageTest, TOKEN

AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class AccessibilityTest(PageTest):
    def views(self):
        """(name, what shows it)"""
        call = self.server.play("--from-user", "Alice", "--to", "447700900123", "--callee", "busy")
        self.server.answer("CON-axe")
        self.server.event("CON-axe", None, reason="Syntax error", direction=None)
        self.server.ask("POST", "/users", {"name": "Alice"}, Authorization="Bearer " + TOKEN)
        return [
            ("calls", lambda: (self.browser.go("#/calls"), self.browser.one(f"#row-{call}"))),
            ("a call", lambda: (self.open(call), self.browser.one(".panel .words"))),
            ("a complaint", lambda: (self.open("CON-axe"), self.browser.one(".complaints"))),
            ("flows", lambda: (self.browser.go("#/flows"), self.browser.one(".graph"))),
            ("users", lambda: (self.browser.go("#/users"), self.browser.one("tbody th", "Alice"))),
            ("health", lambda: (self.browser.go("#/health"), self.browser.one(".cards"))),
            ("set-up", lambda: (self.browser.go("#/setup"), self.browser.one("dl.table"))),
            ("play", lambda: (self.browser.go("#/setup"), self.browser.click(".play button:nth-child(2)"), self.browser.one("dialog form"))),
        ]

    def violations(self):
        # By the debugger: the page's own policy lets no other script in.
        self.browser.cdp("Runtime.evaluate", expression=AXE)
        return self.browser.later("""axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations.flatMap((v) =>
            v.nodes.map((node) => `${v.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`))), (error) => done([String(error)]))""")

    def check(self, scheme, width, height):
        self.browser.scheme(scheme)
        self.browser.size(width, height)
        for name, show in self.views():
            with self.subTest(view=name, scheme=scheme, width=width):
                show()
                self.assertEqual(self.violations(), [])
                wide = self.browser.run("return Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth) - innerWidth")
                self.assertLessEqual(wide, 0)
                self.shot(f"{name.replace(' ', '-')}-{scheme}-{width}")
                if self.browser.all("dialog[open]"):
                    self.browser.press(Keys.ESCAPE)
                    self.browser.gone("dialog")
        self.browser.size(self.width, self.height)

    def test_by_day(self):
        self.check("light", 1280, 860)

    def test_by_night(self):
        self.check("dark", 1280, 860)

    def test_on_a_phone(self):
        self.check("light", 320, 640)

    def test_on_a_phone_by_night(self):
        self.check("dark", 320, 640)
