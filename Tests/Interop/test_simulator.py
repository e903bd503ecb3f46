# SPDX-License-Identifier: MIT
#
# Vonage's own Python clients against `switchboard simulate`. They take a host and put `https://` in front of it, whatever their options say, so
# a transport adapter takes the `s` away again; nothing else of them is changed.

import json
import logging
import os
import subprocess
import unittest

import jwt
from requests.adapters import HTTPAdapter
from vonage_application import Application, ApplicationConfig
from vonage_application.common import Capabilities, Voice as VoiceCapability, VoiceUrl, VoiceWebhooks
from vonage_http_client.auth import Auth
from vonage_http_client.errors import AuthenticationError, HttpRequestError, NotFoundError, RateLimitedError, ServerError
from vonage_http_client.http_client import HttpClient, HttpClientOptions
from vonage_users import ListUsersFilter, User, Users
from vonage_users.common import Channels, Properties, PstnChannel
from vonage_video import Video
from vonage_video.models import SessionOptions, TokenOptions
from vonage_voice import Voice
from vonage_voice.models import (
    AudioStreamOptions, CreateCallRequest, ListCallsFilter, Phone, Sip, Talk, ToPhone, TtsStreamOptions, Vbc, Websocket,
)

from support import SECONDS, Simulator

# The errors that the tests want are no news.
logging.getLogger("vonage").setLevel(logging.CRITICAL)
APPLICATION = "11111111-2222-4333-8444-555555555555"


class Plain(HTTPAdapter):
    def send(self, request, **options):
        request.url = request.url.replace("https://", "http://", 1)
        return super().send(request, **options)


def client(simulator, application=None):
    auth = Auth(
        application_id=application or simulator.settings["VONAGE_APPLICATION_ID"], private_key=simulator.settings["VONAGE_PRIVATE_KEY"],
        api_key="abcd1234", api_secret="secret")
    options = HttpClientOptions(api_host=simulator.host, video_host=simulator.host, timeout=SECONDS, max_retries=0)
    http = HttpClient(auth, options)
    http._session.mount("https://", Plain())
    return http


def problem(error):
    return error.exception.response.json()


def ours(simulator, *arguments):
    """`switchboard users …` with the simulator's settings: (exit code, output)."""
    done = subprocess.run(
        [os.environ["SWITCHBOARD"], "users", *arguments], capture_output=True, encoding="utf-8", timeout=SECONDS, env=simulator.settings)
    return done.returncode, done.stdout


class BothClientsTest(unittest.TestCase):
    """Vonage's client and ours, in turn, see the same users."""

    def test_users(self):
        with Simulator() as simulator:
            http = client(simulator)
            self.addCleanup(http._session.close)
            users = Users(http)

            def same():
                """All users of both lists, ours hiding those that Vonage names."""
                theirs = {(user.id, user.name) for user in users.list_users(ListUsersFilter(page_size=100))[0] if user.name[:4] != "NAM-"}
                code, output = ours(simulator, "list", "--json")
                listed = [json.loads(line) for line in output.splitlines()]
                self.assertEqual((code, {(user["id"], user["name"]) for user in listed}), (0, theirs))
                return {name for _, name in theirs}

            self.assertEqual(same(), set())
            ada = users.create_user(User(name="Ada"))
            users.create_user()
            self.assertEqual(ours(simulator, "create", "Bob Ö."), (0, ours(simulator, "create", "Bob Ö.")[1]))
            self.assertEqual(same(), {"Ada", "Bob Ö."})
            # The name that theirs has made is found by ours, and refused where it is made anew by theirs.
            self.assertIn(ada.id, ours(simulator, "create", "Ada")[1])
            with self.assertRaises(HttpRequestError) as taken:
                users.create_user(User(name="Bob Ö."))
            self.assertEqual(problem(taken)["code"], "user:error:duplicate-name")
            code, token = ours(simulator, "token", "Ada")
            self.assertEqual((code, jwt.decode(token.strip(), options={"verify_signature": False})["sub"]), (0, "Ada"))
            self.assertEqual(ours(simulator, "delete", "Ada")[0], 0)
            with self.assertRaises(NotFoundError):
                users.get_user(ada.id)
            self.assertEqual((ours(simulator, "delete", "Ada")[0], ours(simulator, "token", "Ada")[0]), (1, 1))
            self.assertEqual(same(), {"Bob Ö."})


class SimulatorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = cls.enterClassContext(Simulator("--no-call-limit", "--no-play"))
        cls.http = client(cls.simulator)
        cls.addClassCleanup(cls.http._session.close)

    def test_users(self):
        users = Users(self.http)
        made = users.create_user(User(
            name="Alice", display_name="Alice L.", image_url="https://example.com/alice.png",
            channels=Channels(pstn=[PstnChannel(number=14155550100)]), properties=Properties(custom_data={"tier": "gold"})))
        self.assertEqual((made.name, made.properties.custom_data), ("Alice", {"tier": "gold"}))
        self.assertTrue(made.id.startswith("USR-") and made.link.endswith(made.id))
        self.assertEqual(users.get_user(made.id), made)
        self.assertEqual(users.update_user(made.id, User(display_name="Al")).display_name, "Al")
        with self.assertRaises(HttpRequestError) as taken:
            users.create_user(User(name="Alice"))
        self.assertEqual(problem(taken)["code"], "user:error:duplicate-name")
        self.assertTrue(users.create_user().name.startswith("NAM-"))
        for number in range(5):
            users.create_user(User(name=f"user {number}"))
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor is not None:
            page, cursor = users.list_users(ListUsersFilter(page_size=3, order="asc", cursor=cursor))
            found += [user.name for user in page]
            pages += 1
        self.assertEqual((len(found), pages), (7, 3))
        self.assertEqual(found[2:], [f"user {number}" for number in range(5)])
        self.assertEqual(users.list_users(ListUsersFilter(name="user 3"))[0][0].name, "user 3")
        with self.assertRaises(NotFoundError):
            users.list_users(ListUsersFilter(name="nobody"))
        users.delete_user(made.id)
        with self.assertRaises(NotFoundError) as gone:
            users.get_user(made.id)
        self.assertEqual(problem(gone)["code"], "user:error:not-found")

    def test_calls(self):
        voice = Voice(self.http)
        call = voice.create_call(CreateCallRequest(
            to=[ToPhone(number="12025550142", dtmf_answer="1p2")], from_=Phone(number="12025550100"), ncco=[Talk(text="Hello.")],
            event_url=["https://calls.example.com/voice/event"], length_timer=600, ringing_timer=30, machine_detection="continue"))
        self.assertEqual((call.status, call.direction), ("started", "outbound"))
        leg = voice.get_call(call.uuid)
        self.assertEqual((leg.status, leg.to.number, leg.conversation_uuid), ("answered", "12025550142", call.conversation_uuid))
        self.assertEqual(voice.play_tts_into_call(call.uuid, TtsStreamOptions(text="One moment.", level=0.5)).message, "Talk started")
        self.assertEqual(voice.stop_tts(call.uuid).message, "Talk stopped")
        stream = AudioStreamOptions(stream_url=["https://calls.example.com/hold.mp3"], loop=0, level=-0.4)
        self.assertEqual(voice.play_audio_into_call(call.uuid, stream).message, "Stream started")
        self.assertEqual(voice.stop_audio_stream(call.uuid).message, "Stream stopped")
        self.assertEqual(voice.play_dtmf_into_call(call.uuid, "1p2").message, "DTMF sent")
        for action in (voice.mute, voice.unmute, voice.earmuff, voice.unearmuff):
            self.assertIsNone(action(call.uuid))
        self.assertIsNone(voice.transfer_call_ncco(call.uuid, [Talk(text="Moving.")]))
        self.assertIsNone(voice.transfer_call_answer_url(call.uuid, "https://calls.example.com/next"))
        self.assertIsNone(voice.hangup(call.uuid))
        over = voice.get_call(call.uuid)
        self.assertEqual((over.status, over.network), ("completed", "US-FIXED"))
        self.assertTrue(over.price and over.duration and over.start_time and over.end_time)
        with self.assertRaises(NotFoundError):
            voice.hangup(call.uuid)
        for endpoint in (
            Sip(uri="sip:a@pbx.example.com", headers={"a": "b"}), Vbc(extension="204"),
            Websocket(uri="wss://bot.example.com/audio", content_type="audio/l16;rate=16000", headers={}),
        ):
            other = voice.create_call(CreateCallRequest(
                to=[endpoint], random_from_number=True, answer_url=["https://calls.example.com/answer"], answer_method="POST"))
            self.assertEqual(voice.get_call(other.uuid).to.type, endpoint.type)
        calls, following = voice.list_calls(ListCallsFilter(page_size=3, order="asc"))
        self.assertEqual((len(calls), following, calls[0].uuid), (3, 1, call.uuid))
        calls, following = voice.list_calls(ListCallsFilter(status="completed"))
        self.assertEqual(([leg.uuid for leg in calls], following), ([call.uuid], None))

    def test_video(self):
        video = Video(self.http)
        ids = set()
        for options in (
            SessionOptions(), SessionOptions(media_mode="routed", archive_mode="manual", location="10.1.200.30"),
            SessionOptions(media_mode="relayed"), SessionOptions(archive_mode="always"), SessionOptions(media_mode="routed", e2ee=True),
        ):
            ids.add(video.create_session(options).session_id)
        self.assertEqual(len(ids), 5)
        token = video.generate_client_token(TokenOptions(session_id=ids.pop(), role="publisher"))
        claims = jwt.decode(token, options={"verify_signature": False})
        self.assertEqual(claims["application_id"], self.simulator.settings["VONAGE_APPLICATION_ID"])

    def test_application(self):
        application = Application(self.http)
        identity = self.simulator.settings["VONAGE_APPLICATION_ID"]
        self.assertEqual(application.get_application(identity).id, identity)
        hook = VoiceUrl(address="https://calls.example.com/voice/answer", http_method="POST", connect_timeout=1000, socket_timeout=5000)
        voice = VoiceCapability(webhooks=VoiceWebhooks(answer_url=hook), signed_callbacks=True)
        changed = application.update_application(identity, ApplicationConfig(name="One", capabilities=Capabilities(voice=voice)))
        self.assertEqual((changed.name, changed.capabilities.voice.webhooks.answer_url.address), ("One", hook.address))
        self.assertEqual(application.get_application(identity).capabilities.voice, changed.capabilities.voice)

    def test_another_application_is_refused(self):
        other = client(self.simulator, APPLICATION)
        self.addCleanup(other._session.close)
        with self.assertRaises(AuthenticationError) as refused:
            Users(other).list_users()
        self.assertEqual(problem(refused)["code"], "system:error:invalid-token")
        with self.assertRaises(AuthenticationError):
            Voice(other).list_calls()


class TroubleTest(unittest.TestCase):
    def test_each_kind_is_the_error_that_the_client_has_for_it(self):
        with Simulator("--fail", "429,500,html,empty") as simulator:
            http = client(simulator)
            self.addCleanup(http._session.close)
            users = Users(http)
            with self.assertRaises(RateLimitedError):
                users.list_users()
            with self.assertRaises(ServerError):
                users.list_users()
            with self.assertRaises(HttpRequestError):
                users.list_users()
            self.assertIsNone(http.get(simulator.host, "/v1/users"))

    def test_calls_have_their_limit(self):
        with Simulator() as simulator:
            http = client(simulator)
            self.addCleanup(http._session.close)
            call = CreateCallRequest(to=[ToPhone(number="12025550142")], random_from_number=True, ncco=[Talk(text="Hello.")])
            with self.assertRaises(RateLimitedError):
                # Three a second: of so many that follow one another at once, one is too many.
                for _ in range(50):
                    Voice(http).create_call(call)


if __name__ == "__main__":
    unittest.main()
