# SPDX-License-Identifier: MIT
#
# Who gets in, what stays when the server is started anew, what is there without a script, and many calls.

import json
import threading

from support import PageTest, TOKEN, http_client


class AccessTest(PageTest):
    def test_a_wrong_token_is_refused_and_the_right_one_gets_in(self):
        self.expected = ["401 (Unauthorized)"]
        self.browser.click("form[action$='/logout'] button")
        self.browser.one("#token").send_keys("not the token")
        self.browser.click("button")
        self.browser.one("[role=alert]", "This is not the admin token.")
        self.browser.one("#token").send_keys(TOKEN)
        self.browser.click("button")
        self.browser.one("#live", "live")

    def test_an_ended_log_in_is_said(self):
        self.expected = ["404 (Not Found)"]
        cookies = self.browser.cdp("Network.getAllCookies")["cookies"]
        self.browser.driver.delete_all_cookies()
        self.browser.go("#/setup")
        self.browser.one(".notice", "This log-in has ended.")
        for cookie in cookies:
            self.browser.cdp("Network.setCookie", **{name: cookie[name] for name in ("name", "value", "domain", "path", "httpOnly")})
        self.browser.driver.refresh()
        self.browser.one("#live", "live")

    def test_a_restart_loses_and_repeats_nothing(self):
        self.expected = ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET"]
        self.server.event("CON-before")
        self.browser.one("#row-CON-before", "started")
        self.browser.run("""window.drawn = [];
            new MutationObserver((all) => { for (const { addedNodes } of all) for (const node of addedNodes) if (node.call) window.drawn.push(`${node.call.conversation_uuid} ${node.call.state}`); })
              .observe(document.querySelector('.rows'), { childList: true });""")
        self.server.stop()
        self.browser.one("#live", "reconnecting")
        self.server.start()
        # Before the browser is back.
        self.server.event("CON-before", "answered", seconds=1)
        self.server.event("CON-between")
        self.browser.one("#live", "live")
        self.server.event("CON-behind")
        self.browser.one("#row-CON-behind")
        self.browser.one("#row-CON-between")
        self.browser.one("#row-CON-before", "answered")
        rows = self.browser.rows()
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(rows[:3], ["CON-behind", "CON-between", "CON-before"])
        drawn = self.browser.run("return window.drawn")
        self.assertEqual(sorted(drawn), sorted(set(drawn)), "a row was drawn twice for one state")

    def test_without_a_script_the_set_up_and_the_newest_calls_are_there(self):
        self.server.event("CON-plain", to="<b>Zoë</b>")
        self.browser.one("#row-CON-plain")
        self.browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.driver.refresh()
            self.browser.one("#plain dl", "/voice/answer")
            self.browser.one("#plain tbody", "<b>Zoë</b>")
            self.shot("plain")
        finally:
            self.browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
            self.browser.driver.refresh()
        self.browser.one("#live", "live")


class ManyCallsTest(PageTest):
    many = 5000

    def test_five_thousand_calls_stay_few_elements_and_smooth(self):
        # Whoever reads slower than calls come in is dropped, and goes on with its next connection.
        self.expected = ["ERR_INCOMPLETE_CHUNKED_ENCODING"]

        def send(first):
            connection = http_client(self.server)
            for index in range(first, self.many, 8):
                body = json.dumps({"status": "completed", "uuid": f"leg-{index}", "conversation_uuid": f"CON-many-{index}", "from": "447700900123", "to": "Alice"})
                connection.request("POST", "/voice/event", body, {"Content-Type": "application/json"})
                connection.getresponse().read()
            connection.close()
        senders = [threading.Thread(target=send, args=(first,)) for first in range(8)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.browser.driver.refresh()
        self.browser.one("#count", "200 calls so far")
        self.browser.run("""window.longest = 0;
            new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration); })
              .observe({ type: 'longtask' });""")

        def reach_the_end():
            self.browser.run("const list = document.querySelector('.scroller'); list.scrollTop = list.scrollHeight")
            return self.browser.all("#count")[0].text == "5,000 calls"
        self.browser.until(reach_the_end, "not all calls are read", 60)
        self.browser.one("#row-CON-many-" + self.browser.rows()[-1].split("-")[-1])
        self.assertLess(len(self.browser.all(".row")), 80)
        # Each scroll and each page was a task of its own; this is a busy machine.
        self.assertLess(self.browser.run("return window.longest"), 500)
