# SPDX-License-Identifier: MIT
#
# Calls that Vonage's Python client makes at `switchboard simulate`, played to their ends: what is asked and told arrives at a server of Python's
# own and at `switchboard serve`, in order, and signed so that PyJWT takes it.

import hashlib
import http.server
import json
import queue
import threading
import unittest
from urllib.parse import parse_qsl, urlsplit

import jwt
from vonage_application import Application, ApplicationConfig
from vonage_application.common import Capabilities, Voice as VoiceCapability, VoiceUrl, VoiceWebhooks
from vonage_http_client.errors import HttpRequestError, NotFoundError
from vonage_voice import Voice
from vonage_voice.models import CreateCallRequest, Dtmf, Input, Phone, Stream, Talk, ToPhone, TtsStreamOptions

from support import NCCOS, SECONDS, Server, Simulator
from test_simulator import client

SECRET = "a-signature-secret-of-these-tests"
HOLD = [{"action": "stream", "streamUrl": ["https://calls.example.com/hold.mp3"], "loop": 0}]


class Receiver:
    """A webhook server that keeps what it is asked and told, and answers each path as `answers` has it; a context."""

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.requests = queue.Queue()

    def __enter__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.take(None)

            def do_POST(self):
                self.take(self.rfile.read(int(self.headers["Content-Length"])))

            def take(self, body):
                url = urlsplit(self.path)
                fields = dict(parse_qsl(url.query)) if body is None else json.loads(body)
                receiver.requests.put((url.path, self.command, fields, self.headers["Authorization"], body))
                answer = receiver.answers.get(url.path)
                content = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(SECONDS)

    def take(self):
        """The next request: (path, method, fields, authorization, body)."""
        return self.requests.get(timeout=SECONDS)

    def until(self, is_last):
        """What comes up to and with the request that this holds of, events and others apart: ([kind], {kind: fields}, [other request])."""
        kinds, fields, others = [], {}, []
        while True:
            request = self.take()
            if request[0].startswith("/event"):
                kinds.append(kind(request[2]))
                fields[kinds[-1]] = request[2]
            else:
                others.append(request)
            if is_last(request):
                return kinds, fields, others


def kind(event):
    return event.get("status") or event.get("type") or "input"


def ends(request):
    return request[2].get("status") == "completed"


class CallTest(unittest.TestCase):
    def open(self, simulator):
        http = client(simulator)
        self.addCleanup(http._session.close)
        return Voice(http)

    def test_a_call_with_an_ncco_takes_its_course(self):
        with Simulator("--answers-after", "0s", "--press", "7") as simulator, Receiver() as receiver:
            voice = self.open(simulator)
            ncco = [Talk(text="Hi."), Input(type=["dtmf"], dtmf=Dtmf(maxDigits=1)), Talk(text="Bye.")]
            call = voice.create_call(CreateCallRequest(
                to=[ToPhone(number="12025550142")], from_=Phone(number="12025550100"), ncco=ncco, event_url=[receiver.url + "/event"]))
            self.assertEqual((call.status, call.direction), ("started", "outbound"))
            kinds, events, others = receiver.until(ends)
            self.assertEqual((kinds, others), (["started", "answered", "input", "completed"], []))
            for event in events.values():
                self.assertEqual((event["uuid"], event["conversation_uuid"]), (call.uuid, call.conversation_uuid))
                self.assertEqual((event["to"], event["from"]), ("12025550142", "12025550100"))
            self.assertEqual(events["input"]["dtmf"], {"digits": "7", "timed_out": False})
            self.assertEqual(
                list(events["answered"]),
                ["start_time", "headers", "rate", "from", "to", "uuid", "conversation_uuid", "status", "direction", "network", "timestamp"])
            self.assertEqual((events["completed"]["disconnected_by"], events["completed"]["direction"]), ("platform", "outbound"))
            over = voice.get_call(call.uuid)
            self.assertEqual((over.status, over.duration), ("completed", events["completed"]["duration"]))

    def test_a_call_is_changed_while_it_goes_on(self):
        moved = [{"action": "talk", "text": "Moved."}] + HOLD
        with Simulator("--answers-after", "0s", "--talk-for", "30s") as simulator, Receiver({"/answer": HOLD, "/next": moved}) as receiver:
            voice = self.open(simulator)
            call = voice.create_call(CreateCallRequest(
                to=[ToPhone(number="12025550142")], random_from_number=True, answer_url=[receiver.url + "/answer"], answer_method="POST",
                event_url=[receiver.url + "/event"]))
            asked = []
            kinds = []
            while "answered" not in kinds or not asked:
                request = receiver.take()
                (kinds if request[0] == "/event" else asked).append(kind(request[2]) if request[0] == "/event" else request)
            path, method, fields, _, _ = asked[0]
            self.assertEqual((path, method, fields["uuid"], fields["to"]), ("/answer", "POST", call.uuid, "12025550142"))
            self.assertEqual(fields["region_url"].removeprefix("http://"), simulator.host)
            self.assertEqual(voice.get_call(call.uuid).status, "answered")

            voice.play_tts_into_call(call.uuid, TtsStreamOptions(text="One moment."))
            self.assertEqual(voice.play_dtmf_into_call(call.uuid, "1p2").message, "DTMF sent")
            voice.mute(call.uuid)
            voice.unmute(call.uuid)
            stream = Stream(streamUrl=["https://calls.example.com/hold.mp3"], loop=0)
            voice.transfer_call_ncco(call.uuid, [Talk(text="Moving."), stream])
            path, _, event, _, _ = receiver.take()
            self.assertEqual((path, event["type"], event["uuid"]), ("/event", "transfer", call.uuid))
            self.assertEqual(event["conversation_uuid_from"], call.conversation_uuid)
            self.assertEqual(voice.get_call(call.uuid).conversation_uuid, event["conversation_uuid_to"])

            voice.transfer_call_answer_url(call.uuid, receiver.url + "/next")
            kinds, _, others = receiver.until(lambda request: request[0] == "/next")
            self.assertEqual((others[0][1], others[0][2]["uuid"]), ("GET", call.uuid))
            voice.hangup(call.uuid)
            more, events, others = receiver.until(ends)
            self.assertEqual((kinds + more, others), (["transfer", "completed"], []))
            self.assertEqual(events["completed"]["disconnected_by"], "platform")
            self.assertEqual(voice.get_call(call.uuid).status, "completed")
            with self.assertRaises(NotFoundError):
                voice.hangup(call.uuid)
            said = simulator.lines(lambda line: "event completed" in line)
            self.assertTrue(all(line.startswith(call.uuid[-6:]) for line in said))
            heard = [line[18:] for line in said if " hears " in line or " presses " in line]
            self.assertEqual([words for words in heard if "hold.mp3" not in words], [
                'hears "One moment."', "presses 1p2", 'hears "Moving."', 'hears "Moved."'])

    def test_webhooks_are_signed(self):
        with Simulator("--answers-after", "0s", secret=SECRET) as simulator, Receiver({"/answer": [{"action": "talk", "text": "Hi."}]}) as receiver:
            call = self.open(simulator).create_call(CreateCallRequest(
                to=[ToPhone(number="12025550142")], random_from_number=True, answer_url=[receiver.url + "/answer"],
                event_url=[receiver.url + "/event"]))
            ids = set()
            while True:
                path, method, fields, authorization, body = receiver.take()
                claims = jwt.decode(authorization.removeprefix("Bearer "), SECRET, algorithms=["HS256"])
                self.assertEqual(claims["application_id"], simulator.settings["VONAGE_APPLICATION_ID"])
                if body is not None:
                    self.assertEqual(claims["payload_hash"], hashlib.sha256(body).hexdigest())
                ids.add(claims["jti"])
                self.assertEqual(fields["uuid"], call.uuid)
                if ends((path, method, fields)):
                    break
            self.assertEqual(len(ids), 4)

    def test_whoever_is_called_does_as_the_flag_says(self):
        for callee, kinds in (
            ("busy", ["started", "ringing", "busy", "completed"]), ("bad-number", ["started", "rejected"]),
        ):
            with self.subTest(callee), Simulator("--callee", callee) as simulator, Receiver() as receiver:
                voice = self.open(simulator)
                call = voice.create_call(CreateCallRequest(
                    to=[ToPhone(number="12025550142")], random_from_number=True, ncco=[Talk(text="Hi.")],
                    event_url=[receiver.url + "/event"]))
                self.assertEqual([kind(receiver.take()[2]) for _ in kinds], kinds)
                self.assertEqual(voice.get_call(call.uuid).status, callee if callee == "busy" else "rejected")
                with self.assertRaises(HttpRequestError):
                    voice.play_dtmf_into_call(call.uuid, "1")

    def test_the_application_names_where_webhooks_go(self):
        closing = [{"action": "talk", "text": "Sorry."}]
        with Simulator("--answers-after", "0s") as simulator, Receiver({"/fallback": closing}) as receiver:
            http = client(simulator)
            self.addCleanup(http._session.close)
            hooks = VoiceWebhooks(
                fallback_answer_url=VoiceUrl(address=receiver.url + "/fallback", http_method="POST"),
                event_url=VoiceUrl(address=receiver.url + "/event/app", http_method="POST", socket_timeout=2000))
            Application(http).update_application(
                simulator.settings["VONAGE_APPLICATION_ID"],
                ApplicationConfig(name="One", capabilities=Capabilities(voice=VoiceCapability(webhooks=hooks))))
            # Nobody listens at port 1.
            call = Voice(http).create_call(CreateCallRequest(
                to=[ToPhone(number="12025550142")], random_from_number=True, answer_url=["http://127.0.0.1:1/answer"]))
            kinds, _, others = receiver.until(ends)
            self.assertEqual(kinds, ["started", "answered", "completed"])
            path, method, fields, _, _ = others[0]
            self.assertEqual((path, method, fields["uuid"], fields["reason"]), ("/fallback", "POST", call.uuid, "Connection refused."))
            self.assertEqual(fields["original_request"], {"url": "http://127.0.0.1:1/answer", "type": "answer"})

    def test_our_own_server_answers_and_is_told(self):
        with Simulator("--answers-after", "0s", "--talk-for", "100ms", secret=SECRET) as simulator, \
                Server(NCCOS, "--number", "14155550100", secret=SECRET) as server:
            url = f"http://127.0.0.1:{server.connection.port}/voice"
            voice = self.open(simulator)
            call = voice.create_call(CreateCallRequest(
                to=[ToPhone(number="12025550142")], from_=Phone(number="14155550100"), answer_url=[url + "/answer"],
                event_url=[url + "/event"]))
            said = simulator.lines(lambda line: "event completed" in line, count=2)
            self.assertTrue(any(f"GET {url}/answer → 200" in line for line in said), said)
            self.assertFalse([line for line in said if "refused:" in line or "lost:" in line])
            self.assertEqual(voice.get_call(call.uuid).status, "completed")
            kept = [json.loads(line) for line in server.events()]
            mine = [record for record in kept if call.uuid in json.dumps(record)]
            self.assertEqual({record["signature"] for record in mine}, {"verified"})
            states = [record["event"]["status"] for record in mine if record["kind"] == "event"]
            self.assertEqual(states, ["started", "answered", "completed"])


if __name__ == "__main__":
    unittest.main()
