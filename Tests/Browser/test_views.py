# SPDX-License-Identifier: MIT
#
# The other views: set-up, flows, users and health.

from support import NUMBER, PageTest, switchboard


class ViewsTest(PageTest):
    def test_the_set_up_shows_what_to_paste_and_what_is_missing(self):
        self.browser.click(".strip button[aria-label='Copy the answer URL']")
        self.browser.until(lambda: self.browser.clipboard() == f"http://localhost:{self.server.port}/voice/answer", "it is not copied")
        self.browser.click(".strip details summary")
        self.browser.one(".strip .missing li", "→")
        self.browser.go("#/setup")
        self.browser.one("dl.table", NUMBER)
        self.shot("setup")

    def test_flows_are_a_picture_with_rules_and_templates(self):
        self.browser.go("#/flows")
        self.browser.one(".graph .flow", "/voice/ivr")
        self.browser.one(".graph .template", "ivr-menu-again")
        self.assertTrue(self.browser.all(".edge.back"))
        self.shot("flows")
        self.browser.go("#/flows/choice")
        card = self.browser.until(lambda: self.browser.all("#flow-choice")[0], "no card")
        self.assertEqual(len(card.find_elements("css selector", ".rules li")), 8)
        self.browser.one("#template-ivr-menu", "Welcome")
        self.browser.one("#template-ivr-menu a", "choice")

    def test_what_a_caller_would_hear_is_told(self):
        self.browser.go("#/flows")
        self.browser.fill("To", "112", ".sheet form")
        self.browser.click(".sheet form .first")
        self.browser.one(".sheet .card .words", "Emergency and short numbers")
        self.browser.fill("Flow", "choice", ".sheet form")
        self.browser.fill("Keys pressed", "2", ".sheet form")
        self.browser.click(".sheet form .first")
        self.browser.one(".sheet .card .words", "choice#2 ivr-queue")

    def test_a_user_is_made_gets_a_token_that_is_valid_and_is_deleted(self):
        self.browser.go("#/users")
        self.browser.fill("Name of a new user", "Zoë 😀", ".sheet form")
        self.browser.click(".sheet form .first")
        self.browser.one("tbody th", "Zoë 😀")
        self.browser.click("button[aria-label='Token for Zoë 😀']")
        self.browser.fill("It lives", "3600", "dialog")
        self.browser.click("dialog form .first")
        self.browser.one("dialog", "in 1 h")
        self.browser.one("dialog .token")
        self.shot("token")
        self.browser.click("dialog button", "Copy token")
        token = self.browser.until(lambda: self.browser.clipboard().count(".") == 2 and self.browser.clipboard(), "no token is copied")
        code, said = switchboard("token", "inspect", "--private-key-file", self.server.key, token)
        self.assertEqual(code, 0, said)
        self.assertIn("Zoë 😀", said)
        self.browser.click("dialog .head button")
        self.browser.click("button[aria-label='Delete Zoë 😀']")
        self.browser.click("dialog .danger")
        self.browser.one(".sheet", "No user yet")

    def test_a_name_that_is_none_is_refused_in_the_words_of_the_server(self):
        self.expected = ["400 (Bad Request)"]
        self.browser.go("#/users")
        self.browser.fill("Name of a new user", "USR-1", ".sheet form")
        self.browser.click(".sheet form .first")
        self.browser.one(".sheet .failure", "NAM- or USR-")

    def test_a_video_room_gives_a_token(self):
        self.browser.go("#/users")
        self.browser.fill("Room", "lobby-1", ".sheet .card")
        self.browser.click(".sheet .card .first")
        self.browser.one(".sheet .card .token")

    def test_health_shows_the_limits(self):
        self.browser.go("#/health")
        self.browser.one(".lamp.good", "All is well.")
        self.browser.one(".card.number", "of 5 s")
        self.shot("health")


class FirstVisitTest(PageTest):
    arguments = ()

    def test_without_calls_it_says_how_to_get_one(self):
        self.browser.one(".empty", "No call yet.")
        self.browser.click(".empty .first")
        self.browser.one(".ladder .rung")
        self.browser.go("#/calls")
        self.shot("first-visit")
