# SPDX-License-Identifier: MIT
#
# NCCOs against the models of `vonage-voice`, Vonage's own package, in both directions: what this library writes and what the shipped flows
# serve must be taken there, and what is written there must be taken here. Where the two disagree the reference decides, and the difference
# stands in a table below with its reason. The tables are exact: a difference that is not listed fails, and so does one that is gone.

import copy
import json
import shutil
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlencode

import make_vectors
import support
from pydantic import ValidationError
from vonage_voice.errors import NccoActionError
from vonage_voice.models import (
    AppEndpoint, Connect, Conversation, Input, Notify, PhoneEndpoint, Record, SipEndpoint, Speech, Stream, Talk, Transfer, VbcEndpoint,
    Wait, WebsocketEndpoint,
)
from vonage_voice.models.common import WebsocketAuthorization
from vonage_voice.models.ncco import NccoAction

ACTIONS = {
    "record": Record, "conversation": Conversation, "connect": Connect, "talk": Talk, "stream": Stream, "input": Input, "notify": Notify,
    "wait": Wait, "transfer": Transfer,
}
ENDPOINTS = {"phone": PhoneEndpoint, "app": AppEndpoint, "websocket": WebsocketEndpoint, "sip": SipEndpoint, "vbc": VbcEndpoint}

# An action with more faults than this is a fault of the test.
MOST_FAULTS = 20

# What becomes of an option of ours there: (place, what happens) to (in which vectors, why the reference is with us). The package is the
# stricter side where it refuses or misses something, and knows less where something is lost; what is added is the default written out.
DIFFERENCES = {
    ("connect", "refused: Either `from_` or `random_from_number` must be set."): (
        [
            "encoded.json connect, machines welcome", "encoded.json phone with all options", "encoded.json sip by URI with all options",
            "encoded.json sip by trunk", "encoded.json vbc", "encoded.json websocket", "encoded.json websocket with all options",
            "examples/connect-app.json", "valid/connect-app.json", "flow answer#2 connect-user",
            "flow answer#2 connect-user without a number", "flow answer#3 connect-phone without a number",
            "flow answer#4 connect-phone without a number", "flow choice#1 ivr-sales without a number",
            "flow choice#4 ivr-sales without a number",
        ],
        "NCCO reference, connect: neither from nor randomFromNumber is required, and from is left out where an app user calls another",
    ),
    ("connect.ringbackTone", "refused"): (
        ["encoded.json connect with all options", "examples/connect-phone.json", "valid/connect-phone.json"],
        "NCCO reference, connect, ringbackTone: one URL as text; the model wants a list, which lint takes with a warning",
    ),
    ("connect.advancedMachineDetection.beep_timeout", "refused"): (
        ["encoded.json connect with all options"],
        "Voice API specification 1.10, beep_timeout: 30 to 120; the model begins at 45 as older editions did, and lint warns below",
    ),
    ("connect.sip.uri", "missed"): (
        ["encoded.json sip by trunk", "examples/connect-sip-trunk-and-vbc.json", "valid/connect-trunk-then-extension.json"],
        "NCCO reference, connect, endpoint sip: uri, or user with domain; the model has no user and domain",
    ),
    ("conversation.transcription", "lost"): (
        ["encoded.json conversation with all options", "examples/conversation-all-options.json", "valid/conversation-all-options.json"],
        "NCCO reference, conversation, transcription: newer than the model",
    ),
    ("record.transcription", "lost"): (
        [
            "encoded.json record with all options", "encoded.json record with settings left to Vonage", "examples/record-all-options.json",
            "valid/record-all-options.json",
        ],
        "NCCO reference, record, transcription: newer than the model",
    ),
    ("input.mode", "lost"): (
        [
            "encoded.json input, each key", "examples/input-asynchronous.json", "examples/input-dtmf-and-speech.json",
            "valid/input-all-options.json", "valid/input-asynchronous.json",
        ],
        "NCCO reference, input, mode: synchronous or asynchronous; newer than the model",
    ),
    ("input.speech.provider", "lost"): (
        ["encoded.json input, speech with all options"],
        "Vonage's SDKs for .NET and Ruby have a provider of speech recognition; the reference is silent, and this model too",
    ),
    ("talk.provider", "lost"): (
        ["encoded.json talk with all options"],
        "Vonage's SDKs for .NET and Ruby have a provider of voices; the reference is silent, and this model too",
    ),
    ("talk.providerOptions", "lost"): (["encoded.json talk with all options"], "as talk.provider"),
    ("input.speech.saveAudio", "added: false"): (
        ["flow choice#8 ivr-menu-again", "flow choice#8 ivr-menu-again without a number", "flow ivr#1 ivr-menu",
         "flow ivr#1 ivr-menu without a number"],
        "NCCO reference, input, speech, saveAudio: false is the default",
    ),
    ("wait.timeout", "added: 10.0"): (
        ["encoded.json wait", "examples/wait.json", "valid/wait.json"],
        "NCCO reference, wait, timeout: 10 is the default",
    ),
}

# What `lax` needs often: an endpoint and a caller id.
CONNECT = {"endpoint": [AppEndpoint(user="Alice")], "from_": "14155550100"}


def calling(endpoint):
    """One action that calls an endpoint."""
    return [Connect(endpoint=[endpoint], from_="14155550100")]


def lax():
    """What the package writes and lint calls an error: the actions, lint's codes, and the reference. Here we are the stricter side."""
    return {
        "timeout below its range": ([Connect(**CONNECT, timeout=0)], ["NCCO010"], "NCCO reference, connect, timeout: 1 to 120"),
        "timeout above its range": ([Connect(**CONNECT, timeout=121)], ["NCCO010"], "NCCO reference, connect, timeout: 1 to 120"),
        "limit below its range": ([Connect(**CONNECT, limit=0)], ["NCCO010"], "NCCO reference, connect, limit: 1 to 7200"),
        "no endpoint": ([Connect(endpoint=[], from_="14155550100")], ["NCCO016"], "NCCO reference, connect, endpoint: exactly one"),
        "two endpoints": (
            [Connect(endpoint=[AppEndpoint(user="Alice"), AppEndpoint(user="Bob")], from_="14155550100")], ["NCCO016"],
            "NCCO reference, connect, endpoint: exactly one",
        ),
        "a number in other digits": (
            calling(PhoneEndpoint(number="4\u0664\u0667\u0667\u0660\u0660\u0669\u0660\u0660")), ["NCCO012"],
            "E.164: the digits 0 to 9; the model's pattern takes those of every script",
        ),
        "a number as user name": (
            calling(AppEndpoint(user="447700900123")), ["NCCO021"],
            "NCCO reference, connect, endpoint app: the name of a user; digits alone are a phone's number in the wrong endpoint",
        ),
        "an address that is no WebSocket's": (
            calling(WebsocketEndpoint(uri="https://bot.example.com", contentType="audio/l16;rate=8000")), ["NCCO014"],
            "NCCO reference, connect, endpoint websocket, uri: ws:// or wss://",
        ),
        "no content type": (
            calling(WebsocketEndpoint(uri="wss://bot.example.com")), ["NCCO008"],
            "NCCO reference, connect, endpoint websocket, content-type: required",
        ),
        "custom authorization without a value": (
            calling(WebsocketEndpoint(
                uri="wss://bot.example.com", contentType="audio/l16;rate=8000", authorization=WebsocketAuthorization(type="custom"))),
            ["NCCO008"], "Voice API specification 1.10, authorization: type custom requires value",
        ),
        "a SIP header that is no text": (
            calling(SipEndpoint(uri="sip:a@example.com", headers={"tries": 1})), ["NCCO009"],
            "NCCO reference, connect, endpoint sip, headers: an object of texts",
        ),
        "a long User-to-User": (
            calling(SipEndpoint(uri="sip:a@example.com", standardHeaders={"User-to-User": "u" * 257})), ["NCCO010"],
            "NCCO reference, connect, endpoint sip, standardHeaders: at most 256 characters",
        ),
        "no extension": (calling(VbcEndpoint(extension="")), ["NCCO022"], "NCCO reference, connect, endpoint vbc, extension: required"),
        "another method": (
            [Record(eventMethod="PUT")], ["NCCO011"], "NCCO reference, eventMethod: GET or POST",
        ),
        "no event URL": ([Record(eventUrl=[])], ["NCCO015"], "NCCO reference, eventUrl: an array with the URL"),
        "two event URLs": (
            [Record(eventUrl=["https://a.example.com", "https://b.example.com"])], ["NCCO015"],
            "NCCO reference, eventUrl: an array with the URL",
        ),
        "a relative URL": ([Stream(streamUrl=["welcome.mp3"])], ["NCCO014"], "NCCO reference, stream, streamUrl: a URL"),
        "two streams": (
            [Stream(streamUrl=["https://a.example.com/1.mp3", "https://a.example.com/2.mp3"])], ["NCCO015"],
            "NCCO reference, stream, streamUrl: exactly one URL",
        ),
        "nothing to say": ([Talk(text="")], ["NCCO022"], "NCCO reference, talk, text: required"),
        "a negative style": ([Talk(text="x", style=-1)], ["NCCO010"], "text-to-speech guide: styles count from 0"),
        "no language": ([Talk(text="x", language="English")], ["NCCO011"], "NCCO reference, talk, language: a code such as en-GB"),
        "cut in without input": (
            [Talk(text="x", bargeIn=True), Wait()], ["NCCO020"], "NCCO reference, talk, bargeIn: the next action must be an input",
        ),
        "a room without a name": ([Conversation(name="")], ["NCCO022"], "NCCO reference, conversation, name: required"),
        "muted, and heard by nobody": (
            [Conversation(name="room", mute=True, canSpeak=[])], ["NCCO018"],
            "NCCO reference, conversation, mute: not with canSpeak; the model overlooks the empty list",
        ),
        "muted and heard by nobody, moved": (
            [Transfer(conversationId="CON-1", mute=True, canSpeak=[])], ["NCCO018"], "NCCO reference, transfer, mute: not with canSpeak",
        ),
        "not muted, and heard by one": (
            [Conversation(name="room", mute=False, canSpeak=["a"])], ["NCCO018"], "NCCO reference, conversation, mute: not with canSpeak",
        ),
        "input of nothing": ([Input(type=[])], ["NCCO010"], "NCCO reference, input, type: dtmf, speech or both"),
        "keys twice": ([Input(type=["dtmf", "dtmf"])], ["NCCO011"], "NCCO reference, input, type: dtmf, speech or both"),
        "two legs to listen to": (
            [Input(type=["speech"], speech=Speech(uuid=["a", "b"]))], ["NCCO010"], "NCCO reference, input, speech, uuid: exactly one",
        ),
    }


# MARK: Handing an NCCO to the package


def differences(action):
    """(place, what happens) for each option of an action that does not go through the package as it is.

    The package tells the kinds of a list of raw objects apart by their fields alone, and takes Python's names in place of the reference's
    (`from_`); so each object is handed to the model of its own kind, as the package's examples do. Models ignore what they do not know:
    only what they write again shows what they took.
    """
    found = set()
    values = dict(action)
    name = values["action"]
    endpoint = None
    if name == "connect":
        given = values["endpoint"][0]
        endpoint = accept(ENDPOINTS[given["type"]], dict(given), f"connect.{given['type']}", found)
        values["endpoint"] = [] if endpoint is None else [endpoint]
    model = accept(ACTIONS[name], values, name, found)
    if model is None:
        return found
    given = dict(action)
    # With the alias and without what is None, as `Voice.transfer_call_ncco` does.
    written = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    if name == "connect":
        if endpoint is not None:
            compare(given["endpoint"][0], written["endpoint"][0], f"connect.{given['endpoint'][0]['type']}", found)
        given["endpoint"] = written["endpoint"] = None
        # `accept` sets it where the package wants one of two options of which the reference wants none.
        if "randomFromNumber" not in given:
            written.pop("randomFromNumber", None)
    compare(given, written, name, found)
    return found


def accept(model, values, place, found):
    """The model with these values, after taking out what it refuses; None where it misses something."""
    names = {field.serialization_alias or name: name for name, field in model.model_fields.items()}
    wire = {name: key for key, name in names.items()}
    values = copy.deepcopy({names.get(key, key): value for key, value in values.items()})
    for _ in range(MOST_FAULTS):
        try:
            return model(**values)
        except ValidationError as error:
            for fault in error.errors():
                path = [wire.get(fault["loc"][0], fault["loc"][0]), *fault["loc"][1:]]
                what = "missed" if fault["type"] == "missing" else "refused"
                found.add((".".join([place, *map(str, path)]), what))
                if what == "missed":
                    return None
                take_out(values, fault["loc"])
        except NccoActionError as error:
            found.add((place, f"refused: {error}"))
            if model is not Connect or "randomFromNumber" in values:
                return None
            values["randomFromNumber"] = False
    raise AssertionError(f"{place}: still refused after {MOST_FAULTS} faults: {sorted(found)}")


def take_out(values, path):
    """Removes the innermost object's member that a path leads to."""
    holder, key = values, path[0]
    for step in path[1:]:
        if not isinstance(holder[key], dict):
            break
        holder, key = holder[key], step
    holder.pop(key, None)


def compare(given, written, place, found):
    """Notes what is gone, new or another, at any depth of objects; numbers are equal where their values are."""
    if isinstance(given, dict) and isinstance(written, dict):
        for key in {**given, **written}:
            inner = f"{place}.{key}"
            if key not in written:
                if (inner, "refused") not in found:
                    found.add((inner, "lost"))
            elif key not in given:
                found.add((inner, f"added: {json.dumps(written[key])}"))
            else:
                compare(given[key], written[key], inner, found)
    elif given != written or isinstance(given, bool) != isinstance(written, bool):
        found.add((place, "changed"))


# MARK: Flows

CALL = {"uuid": "3f1b6a52c1b94d6e8c0a7d5e9b2f4a10", "conversation_uuid": "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"}
PHONE, OWN, USER = "447700900123", "14155550100", "Alice"


def keys(digits):
    """The event of an input, after keys."""
    return {"dtmf": {"digits": digits, "timed_out": False}, "from": PHONE, "to": OWN, "timestamp": "2026-01-01T00:00:00.000Z"}


def words(text):
    """The event of an input, after speech."""
    return {"speech": {"results": [{"text": text, "confidence": "0.9"}], "timeout_reason": "end_on_silence_timeout"}, "from": PHONE}


# A request for each rule of `nccos/flows.json` but those that ask for the time: the flow, what is asked, and what answers.
ASKED = [
    ("answer", {"to": OWN, "from": PHONE}, "answer#1 ring-user"),
    ("answer", {"to": "Bob", "from_user": USER}, "answer#2 connect-user"),
    ("answer", {"to": PHONE, "from_user": USER, "custom_data": '{"tier":"gold"}'}, "answer#3 connect-phone"),
    ("answer", {"to": PHONE}, "answer#4 connect-phone"),
    ("answer", {"to": PHONE, "from": OWN}, "answer#5 connect-phone"),
    ("answer", {"to": "112", "from_user": USER}, "answer#6 cannot-connect"),
    ("answer", {"from_user": USER}, "answer#6 cannot-connect"),
    ("fallback", {"to": OWN, "from": PHONE, "reason": "Connection closed."}, "fallback#1 apology"),
    ("choice", keys("1"), "choice#1 ivr-sales"),
    ("choice", keys("2"), "choice#2 ivr-queue"),
    ("choice", keys("3"), "choice#3 ivr-voicemail"),
    ("choice", words("sales please"), "choice#4 ivr-sales"),
    ("choice", words("support if you can"), "choice#5 ivr-queue"),
    ("choice", words("voicemail"), "choice#6 ivr-voicemail"),
    ("choice?again=1", keys("9"), "choice#7 ivr-goodbye"),
    ("choice", keys("9"), "choice#8 ivr-menu-again"),
    ("no-answer", {"status": "timeout", "from": OWN, "to": PHONE, "direction": "outbound"}, "no-answer#1 ivr-voicemail"),
    ("agent", {"from": PHONE, "to": OWN}, "agent#1 ivr-agent"),
]


ALWAYS = {"between": ["00:00", "24:00"], "zone": "UTC"}


def hours(folder, is_open):
    """A copy of the flows that is always open, or never: what is served must not depend on when the test runs."""
    shutil.copytree(support.NCCOS, folder)
    flows = support.read(folder / "flows.json")
    for rules in flows["flows"].values():
        for rule in rules:
            if "now" in rule.get("when", {}):
                rule["when"]["now"] = ALWAYS if is_open else {"not": ALWAYS}
    (folder / "flows.json").write_text(json.dumps(flows), encoding="utf-8")


# Where no number is configured any number may be one's own.
WITHOUT_NUMBER = {"answer#5 connect-phone": "answer#1 ring-user"}


def served(server, is_open, instead):
    """(label, NCCO) for each request, by GET and by POST; fails where another rule answers."""
    for flow, parameters, expected in [*ASKED, ("ivr", {"to": OWN, "from": PHONE}, "ivr#1 ivr-menu" if is_open else "ivr#2 ivr-closed")]:
        expected = instead.get(expected, expected)
        parameters = {**parameters, **CALL}
        flat = {key: value if isinstance(value, str) else json.dumps(value) for key, value in parameters.items()}
        joint = "&" if "?" in flow else "?"
        for method, path, body in (("GET", f"/voice/{flow}{joint}{urlencode(flat)}", None), ("POST", f"/voice/{flow}", parameters)):
            label, warning, ncco = server.ask(method, path, body)
            # That a call cannot be made is said as a warning too.
            if label != expected or (warning and "cannot-connect" not in label):
                raise AssertionError(f"{method} {path} {body}: {label} {warning}, not {expected}")
            yield label, ncco


def flow_vectors():
    """(label, NCCO) of the shipped flows: open and closed, with a number of one's own and without."""
    with tempfile.TemporaryDirectory() as work:
        for is_open, arguments, instead, suffix in (
            (True, ["--number", OWN], {}, ""), (False, ["--number", OWN], {}, ""), (True, [], WITHOUT_NUMBER, " without a number"),
        ):
            folder = Path(work) / f"nccos-{is_open}"
            if not folder.exists():
                hours(folder, is_open)
            with support.Server(folder, *arguments) as server:
                for label, ncco in served(server, is_open, instead):
                    yield f"flow {label}{suffix}", ncco


class FromHere(unittest.TestCase):
    """What is written here is taken by the package."""

    @classmethod
    def setUpClass(cls):
        cls.flows = list(flow_vectors())
        cls.found = {}
        cls.count = 0
        for vector, ncco in [*support.encoded_vectors(), *support.folder_vectors("examples", "valid"), *cls.flows]:
            if "{{" in json.dumps(ncco):
                continue
            for action in ncco:
                cls.count += 1
                for difference in differences(action):
                    cls.found.setdefault(difference, set()).add(vector)

    def test_there_are_vectors(self):
        self.assertGreater(self.count, 100)
        self.assertTrue({name for _, ncco in support.encoded_vectors() for name in (action["action"] for action in ncco)} >= set(ACTIONS))

    def test_every_rule_of_the_shipped_flows_was_asked(self):
        labels = {vector.split(" ")[1] for vector, _ in self.flows}
        flows = support.read(support.NCCOS / "flows.json")["flows"]
        rules = {f"{name}#{at + 1}" for name, rules in flows.items() for at in range(len(rules))}
        self.assertEqual(labels, rules)

    def test_what_is_served_has_no_error(self):
        for vector, ncco in self.flows:
            with self.subTest(vector):
                self.assertEqual([finding for finding in support.lint(ncco) if finding["severity"] == "error"], [])

    def test_differences_are_those_of_the_table(self):
        for place, what in {**self.found, **DIFFERENCES}:
            with self.subTest(f"{place} {what}"):
                vectors, _ = DIFFERENCES.get((place, what), ([], ""))
                self.assertEqual(sorted(self.found.get((place, what), [])), sorted(vectors))

    def test_what_is_broken_is_a_difference(self):
        # The comparison itself: were it blind, the table would be empty.
        app = {"action": "connect", "from": "14155550100", "endpoint": [{"type": "app", "user": "a"}]}
        self.assertEqual(differences(app), set())
        self.assertEqual(differences({**app, "limit": 7201}), {("connect.limit", "refused")})
        self.assertEqual(differences({**app, "endpoint": [{"type": "app", "user": "a", "x": 1}]}), {("connect.app.x", "lost")})
        self.assertEqual(differences({"action": "record", "channels": 2}), {("record.split", 'added: "conversation"')})
        self.assertEqual(differences({"action": "talk", "text": "x", "loop": "2"}), {("talk.loop", "changed")})
        keys = {"action": "input", "type": ["dtmf"], "dtmf": {"maxDigits": 21, "timeOut": 1}}
        self.assertEqual(differences(keys), {("input.dtmf.maxDigits", "refused")})


class FromThere(unittest.TestCase):
    """What the package writes is taken here. That it is also read and written again is in `NCCOTests/PythonVectorTests.swift`."""

    def test_the_kept_vectors_are_what_the_package_writes(self):
        kept = (support.VECTORS / "python.json").read_text(encoding="utf-8")
        self.assertTrue(kept == make_vectors.text(), "python.json is not what the package writes: run Tests/Interop/make_vectors.py")

    def test_every_option_of_every_model_is_in_a_vector(self):
        missing = {
            f"{model.__name__}.{field.serialization_alias or name}"
            for model in [*models_below(NccoAction), *ENDPOINTS.values()] for name, field in model.model_fields.items()
        }
        for _, ncco in support.python_vectors():
            for action in ncco:
                missing -= {f"{ACTIONS[action['action']].__name__}.{key}" for key in action}
                for endpoint in action.get("endpoint", []):
                    missing -= {f"{ENDPOINTS[endpoint['type']].__name__}.{key}" for key in endpoint}
        self.assertEqual(missing, set())

    def test_every_model_is_known(self):
        self.assertEqual(set(models_below(NccoAction)), set(ACTIONS.values()))

    def test_lint_finds_no_error(self):
        with tempfile.TemporaryDirectory() as folder:
            # One run for all: a folder without flows is so many files.
            for name, ncco in support.python_vectors():
                (Path(folder) / f"{name.split(' ')[1]}.json").write_text(json.dumps(ncco), encoding="utf-8")
            code, output = support.switchboard("lint", "--format", "json", folder)
        report = json.loads(output)
        self.assertEqual([finding for finding in report["findings"] if finding["severity"] == "error"], [])
        self.assertEqual(code, 0)
        self.assertEqual(report["files"], len(list(support.python_vectors())))

    def test_what_the_package_takes_and_the_reference_does_not_is_found(self):
        for name, (actions, codes, _) in lax().items():
            with self.subTest(name):
                findings = support.lint(make_vectors.sent(actions))
                self.assertEqual([finding["code"] for finding in findings if finding["severity"] == "error"], codes)


def models_below(model):
    """So that a model that a newer package brings is missed here."""
    return model.__subclasses__()


if __name__ == "__main__":
    unittest.main()
