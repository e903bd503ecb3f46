# SPDX-License-Identifier: MIT
#
# Calls: they come in live, are found, opened and read, with the keyboard too.

import json
import statistics
import subprocess

from support import Keys, PageTest, moment, time


class CallsTest(PageTest):
    def test_a_call_appears_within_half_a_second_of_its_event(self):
        times = []
        for index in range(5):
            call = f"CON-live-{index}"
            self.browser.run("""
                window.seenAt = new Promise((resolve) => {
                  const look = () => document.getElementById(arguments[0]) && resolve(Date.now());
                  new MutationObserver(look).observe(document.querySelector('.scroller'), { childList: true, subtree: true });
                })""", f"row-{call}")
            self.server.event(call)
            sent = time.time()
            seen = self.browser.later("window.seenAt.then(done)")
            times.append(seen / 1000 - sent)
        self.assertLess(statistics.median(times), 0.5, times)
        self.assertEqual(self.browser.rows()[:5], [f"CON-live-{index}" for index in (4, 3, 2, 1, 0)])

    def test_a_click_opens_a_call_and_the_ladder_has_its_arrows(self):
        call = self.server.play("--from-user", "Alice", "--to", "447700900123")
        self.browser.click(f"#row-{call}")
        self.browser.one(".ladder .rung")
        self.assertIn(call, self.browser.run("return location.hash"))
        names = [element.text for element in self.browser.all(".ladder .lane .name")]
        self.assertEqual(names, ["Alice", "Switchboard", "*********123"])
        # [from, to] in lanes, as they are drawn.
        arrows = self.browser.run("""
            const lanes = [...document.querySelectorAll('.ladder .lane')].map((lane) => lane.querySelector('line').x1.baseVal.value);
            const lane = (x) => lanes.findIndex((at) => Math.abs(at - x) < 5);
            return [...document.querySelectorAll('.ladder .rung')].flatMap((rung) => [...rung.querySelectorAll('.arrow')].map((arrow, at) => {
              const { x1, x2 } = arrow.querySelector('line');
              return `${lane(x1.baseVal.value)}>${lane(x2.baseVal.value)} ${rung.querySelectorAll('.word')[at].textContent}`;
            }))""")
        self.assertEqual(sorted(arrows), sorted([
            "0>1 answer request", "1>0 answer#3 connect-phone", "0>1 started", "0>1 answered", "0>1 completed",
            "2>1 started", "2>1 ringing", "2>1 answered", "2>1 completed",
        ]))
        self.browser.one(".panel .words", "Please wait while we connect you.")
        self.shot("call")

    def test_repeats_are_folded_and_a_late_event_falls(self):
        call = "CON-late"
        first = moment(-20)
        for _ in range(3):
            self.server.event(call, "started", timestamp=first)
        self.server.event(call, "ringing", seconds=-1)
        self.open(call)
        first = self.browser.all(".rung")[0]
        self.assertIn("×3", first.text)
        self.assertIn("came 3 times", first.get_attribute("aria-label"))
        line = self.browser.run("const { y1, y2 } = document.querySelector('.rung .arrow line'); return [y1.baseVal.value, y2.baseVal.value]")
        self.assertGreater(line[1], line[0])

    def test_a_complaint_stands_in_red_beside_its_cause(self):
        call = "CON-complaint"
        self.server.answer(call)
        self.server.event(call, None, reason="Syntax error: the endpoint is missing", direction=None)
        self.open(call)
        self.browser.one(".complaints", "the endpoint is missing")
        self.browser.click(".complaints a:nth-of-type(2)")
        self.browser.one(".panel h3", "answer request")
        self.browser.one(".panel .failure", "the endpoint is missing")
        self.shot("complaint")

    def test_calls_are_found_by_number_user_state_and_time(self):
        self.server.event("CON-find-1", "started", **{"from": "447700900555"})
        self.server.event("CON-find-2", "busy", to="Zoë")
        for fields, found in [
            ({"Search": "+44 7700 900555"}, "CON-find-1"), ({"Search": "zoë"}, "CON-find-2"), ({"State": "busy"}, "CON-find-2"),
        ]:
            with self.subTest(fields):
                for label, value in fields.items():
                    self.browser.fill(label, value, ".search")
                self.browser.until(lambda: self.browser.rows() == [found], f"{fields} finds {self.browser.rows()}")
                # A link to what was found.
                self.assertIn("?", self.browser.run("return location.hash"))
                self.browser.run("for (const field of document.querySelectorAll('.search input[type=search], .search select')) field.value = ''")
                self.browser.fill("Time", "1h", ".search")
                self.browser.until(lambda: len(self.browser.rows()) > 1, "the search is not over")
        self.browser.fill("Time", "between", ".search")
        self.browser.run("""for (const label of ['From', 'To']) {
            const field = [...document.querySelectorAll('.search label')].find((l) => l.textContent === label).control;
            field.value = '2020-01-01T00:00'; field.dispatchEvent(new Event('change')); }""")
        self.browser.one(".empty", "No call fits.")
        self.browser.click(".empty button")
        self.browser.until(lambda: len(self.browser.rows()) > 1, "the search is not over")

    def test_a_call_that_fits_the_search_comes_in_live(self):
        self.browser.fill("Search", "Quinn", ".search")
        self.browser.one(".empty", "No call fits.")
        self.server.event("CON-other")
        self.server.event("CON-quinn", to="Quinn")
        self.browser.until(lambda: self.browser.rows() == ["CON-quinn"], "it does not come")
        self.browser.fill("Search", " ", ".search")

    def test_numbers_are_masked_until_they_are_asked_for(self):
        self.server.event("CON-masked", **{"from": "447700900777"})
        row = "#row-CON-masked"
        self.browser.one(row, "*********777")
        self.open("CON-masked")
        self.assertNotIn("447700900777", self.browser.run("return document.documentElement.outerHTML"))
        switch = self.browser.field("Show numbers")
        switch.click()
        self.browser.one(row, "447700900777")
        self.browser.one(".call h2", "447700900777")
        # Also what comes in from now on.
        self.server.event("CON-masked-2", **{"from": "447700900778"})
        self.browser.one("#row-CON-masked-2", "447700900778")
        switch.click()
        self.browser.one(row, "*********777")
        self.browser.one(".call h2", "*********777")

    def test_the_request_is_copied_as_a_command_that_works(self):
        self.server.answer("CON-curl", to="it's")
        switch = self.browser.field("Show numbers")
        switch.click()
        self.open("CON-curl")
        self.browser.one(".panel h4", "REQUEST")
        self.browser.click(".panel .tools button", "Copy as curl")
        command = self.browser.until(lambda: "curl" in self.browser.clipboard() and self.browser.clipboard(), "nothing is copied")
        done = subprocess.run(["sh", "-c", command.replace("curl ", "curl -s ", 1)], capture_output=True, encoding="utf-8", timeout=20)
        self.assertEqual(json.loads(done.stdout)[0]["action"], "talk", command)
        switch.click()

    def test_played_again_it_shows_what_is_another(self):
        self.server.answer("CON-again")
        self.open("CON-again")
        self.browser.click(".bar .first")
        self.browser.one("dialog[open]", "answer the same")
        self.browser.click("dialog .first", "Play the whole call")
        self.browser.gone("dialog")
        self.browser.until(lambda: "CON-again" not in self.browser.run("return location.hash"), "no other call is opened")
        self.browser.one(".ladder .rung")

    def test_the_button_plays_a_call(self):
        before = set(self.browser.rows())
        self.browser.click(".play .first")
        self.browser.one(".ladder .rung")
        played = self.browser.run("return decodeURIComponent(location.hash.split('/')[2])")
        self.assertNotIn(played, before)
        self.assertIn(played, self.browser.rows())

    def test_all_works_with_the_keyboard(self):
        for index in range(3):
            self.server.event(f"CON-key-{index}")
        self.browser.one("#row-CON-key-2")
        self.browser.run("document.activeElement.blur()")
        self.browser.press("/")
        self.browser.until(lambda: self.browser.run("return document.activeElement.type") == "search", "the search has no focus")
        self.browser.run("document.querySelector('.rows').focus()")
        self.browser.press(Keys.HOME, Keys.ARROW_DOWN)
        active = self.browser.run("return document.getElementById(document.querySelector('.rows').getAttribute('aria-activedescendant')).call.conversation_uuid")
        self.assertEqual(active, self.browser.rows()[1])
        self.browser.press(Keys.ENTER)
        self.browser.one(".ladder .rung")
        self.assertIn(active, self.browser.run("return location.hash"))
        self.browser.until(lambda: self.browser.run("return document.activeElement.tagName") == "H2", "the heading has no focus")
        self.browser.press(Keys.ESCAPE)
        self.browser.gone(".ladder")
        self.browser.until(lambda: self.browser.run("return document.activeElement.className") == "rows", "the list has no focus")
        self.browser.run("history.back()")
        self.browser.one(".ladder .rung")

    def test_an_open_call_goes_on_while_it_is_read(self):
        self.server.event("CON-open")
        self.open("CON-open")
        self.assertEqual(len(self.browser.all(".rung")), 1)
        self.server.event("CON-open", "ringing", seconds=0.1)
        self.server.event("CON-open", "answered", seconds=0.2)
        self.browser.until(lambda: len(self.browser.all(".rung")) == 3, "the ladder does not grow")
        self.browser.one(".facts .state", "answered, goes on")

    def test_what_is_not_there_is_said_in_the_words_of_the_server(self):
        self.expected = ["404 (Not Found)"]
        self.browser.go("#/calls/CON-nobody")
        self.browser.one(".call .failure", "The log has no such call.")


class NumbersTest(PageTest):
    def test_hostile_names_are_text(self):
        names = {
            "CON-h1": "<script>document.title='owned'</script>", "CON-h2": "<img src=x onerror=\"document.title='owned'\">",
            "CON-h3": "مرحبا שלום", "CON-h4": "\u202Egnp.exe\u2066", "CON-h5": "😀👩‍👩‍👧‍👦" * 20, "CON-h6": "x" * 5000, "CON-h7": "{{calls}} ${1} `",
        }
        for call, name in names.items():
            self.server.event(call, to=name, **{"from": name})
        self.browser.until(lambda: len(self.browser.rows()) >= len(names), "they do not come")
        for call, name in names.items():
            with self.subTest(name[:20]):
                self.open(call)
                self.browser.one(".call h2")
                page = self.browser.run("""return {title: document.title, strange: document.querySelectorAll('main script, main img, main iframe').length,
                    wide: document.documentElement.scrollWidth > innerWidth, steers: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)}""")
                self.assertEqual(page, {"title": "Calls – Switchboard", "strange": 0, "wide": False, "steers": False})
        self.browser.go("#/calls")
        self.shot("hostile")
