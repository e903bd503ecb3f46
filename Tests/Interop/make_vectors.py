#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Makes `Tests/NCCOTests/Vectors/python.json`: NCCOs as Vonage's Python package writes them, from all of its models with all of their
# options, as far as the reference allows the values (where it does not, see `lax` in `test_ncco.py`). They are kept in the repository so
# that the Swift tests read them without Python; `test_ncco.py` fails where the kept ones are not these.
#
#   make_vectors.py [FILE]      writes FILE, or python.json where it belongs

import json
import random
import sys
from pathlib import Path

from vonage_voice.models import (
    AdvancedMachineDetection, AppEndpoint, Connect, Conversation, Dtmf, Input, Notify, OnAnswer, PhoneEndpoint, Record, SipEndpoint, Speech,
    Stream, Talk, Transfer, VbcEndpoint, Wait, WebsocketEndpoint,
)
from vonage_voice.models.common import WebsocketAuthorization

VECTORS = Path(__file__).resolve().parents[1] / "NCCOTests/Vectors/python.json"

URL = ["https://calls.example.com/voice/event"]
MP3 = "https://calls.example.com/audio/hold%20on.mp3?x=1&y=%C3%A9#z"
LEGS = [[], ["2a6f9c14-7e0b-4d43-9a52-0c8b1de7f3aa"], ["2a6f9c14-7e0b-4d43-9a52-0c8b1de7f3aa", "3f1b6a52c1b94d6e8c0a7d5e9b2f4a10"]]
BOOLS = [True, False]
# What JSON escapes, what it need not, and what is more than one UTF-16 unit.
TEXTS = ["Hello.", 'Quote " and \\ and / and \t.', "Zürich, 東京, 😀\u2028", "<speak>One<break time='1s'/>two</speak>", "x" * 1500]
ANY_OBJECT = [{}, {"step": "survey", "tries": 1, "rate": -0.5e-3, "deep": [{"a": [None, True, "é\n"]}, []], "": 12345678901}]
EVENT = {"eventUrl": [URL], "eventMethod": ["GET", "POST"]}
NUMBERS = ["1415555", "14155550100", "447700900123456"]


def models():
    """(model, what it needs, values of each option that the reference allows) for whatever has options of its own."""
    return [
        (Record, {}, {
            "format": ["mp3", "wav", "ogg"], "split": ["conversation"], "channels": [1, 2, 32], "endOnSilence": [3, 10],
            "endOnKey": list("0123456789*#"), "timeOut": [3, 7200], "beepStart": BOOLS, **EVENT,
        }),
        (Conversation, {"name": "room 1"}, {
            "name": ["a", "Zürich \"1\""], "musicOnHoldUrl": [[MP3]], "startOnEnter": BOOLS, "endOnExit": BOOLS, "record": BOOLS,
            "canSpeak": LEGS, "canHear": LEGS, "mute": BOOLS, **EVENT,
        }),
        (Connect, {"endpoint": [AppEndpoint(user="Alice")], "from_": "14155550100"}, {
            "endpoint": [[endpoint] for endpoint in endpoints()], "from_": NUMBERS, "randomFromNumber": BOOLS,
            "eventType": ["synchronous"], "timeout": [1, 120], "limit": [1, 7200], "machineDetection": ["continue", "hangup"],
            "advancedMachineDetection": cases(AdvancedMachineDetection, {}, {
                "behavior": ["continue", "hangup"], "mode": ["default", "detect", "detect_beep"], "beep_timeout": [45, 120],
            }),
            "ringbackTone": [[MP3]], **EVENT,
        }),
        (Talk, {"text": "Hello."}, {
            "text": TEXTS, "bargeIn": BOOLS, "loop": [0, 1, 2147483647], "level": [-1, -0.1, 0, 0.3, 1],
            "language": ["en-GB", "yue-CN", "ar"], "style": [0, 23], "premium": BOOLS,
        }),
        (Stream, {"streamUrl": [MP3]}, {"level": [-1, 0.25, 1], "bargeIn": BOOLS, "loop": [0, 1, 99]}),
        (Input, {"type": ["dtmf"]}, {
            "type": [["dtmf"], ["speech"], ["dtmf", "speech"], ["speech", "dtmf"]],
            "dtmf": cases(Dtmf, {}, {"timeOut": [0, 10], "maxDigits": [1, 20], "submitOnHash": BOOLS}),
            "speech": cases(Speech, {}, {
                "uuid": LEGS[1:2], "endOnSilence": [0.4, 2, 10.0], "language": ["en-US", "cmn-hans-cn", "zh"], "context": [[], TEXTS[:3]],
                "startTimeout": [1, 60], "maxDuration": [1, 60], "saveAudio": BOOLS, "sensitivity": [10, 100],
            }),
            **EVENT,
        }),
        (Notify, {"payload": {"step": "welcome"}, "eventUrl": URL}, {"payload": ANY_OBJECT, "eventMethod": EVENT["eventMethod"]}),
        (Wait, {}, {"timeout": [0.1, 0.05, 2.5, 10, 7200, 9000]}),
        (Transfer, {"conversationId": "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"}, {"canHear": LEGS, "canSpeak": LEGS, "mute": BOOLS}),
    ]


def endpoints():
    """An endpoint of every type, with each of its options and with all."""
    return [
        *cases(PhoneEndpoint, {"number": "447700900123"}, {
            "number": NUMBERS, "dtmfAnswer": ["0123456789*#p"], "shaken": ["eyJhbGciOiJFUzI1NiJ9.e30.c2ln"],
            "onAnswer": [OnAnswer(url=URL[0]), OnAnswer(url=URL[0], ringbackTone=MP3)],
        }),
        *cases(AppEndpoint, {"user": "Alice"}, {"user": ["a1", "Zoë \"Z\" 東京", "u" * 100]}),
        *cases(WebsocketEndpoint, {"uri": "wss://bot.example.com:8443/audio", "contentType": "audio/l16;rate=16000"}, {
            "contentType": ["audio/l16;rate=8000", "audio/l16;rate=16000", "audio/l16;rate=24000"], "headers": ANY_OBJECT,
            "authorization": [WebsocketAuthorization(type="vonage"), WebsocketAuthorization(type="custom", value="Bearer a.b"),
                              WebsocketAuthorization(type="vonage", value="ignored")],
        }),
        *cases(SipEndpoint, {"uri": "sip:reception@pbx.example.com"}, {
            "uri": ["sips:+14155550100@pbx.example.com:5061;transport=tls", "sip:pbx.example.com"],
            "headers": [{}, {"ticket": "T-1", "at": "é"}],
            "standardHeaders": [{"User-to-User": "342342ef34;encoding=hex"}, {"User-to-User": "u" * 256}],
        }),
        VbcEndpoint(extension="204"),
    ]


def cases(model, needed, options):
    """What is needed alone, each value of each option, and the last values of all options."""
    alone = [model(**{**needed, name: value}) for name, values in options.items() for value in values]
    return [model(**needed), *alone, model(**{**needed, **{name: values[-1] for name, values in options.items()}})]


def settle(model, options):
    """Takes out, or adds, what the reference wants beside the rest, so that any draw of options makes an NCCO."""
    if model is Connect:
        if options.get("randomFromNumber"):
            options.pop("from_", None)
    if "canSpeak" in options:
        options.pop("mute", None)
    if model is Input:
        options["type"] = options["type"] + [kind for kind in ("dtmf", "speech") if kind in options and kind not in options["type"]]
    return options


def ncco(model, options):
    """The action; and an input behind it where it lets the caller cut in."""
    action = model(**settle(model, dict(options)))
    return [action, Input(type=["dtmf"])] if getattr(action, "bargeIn", None) else [action]


def draw(rng, values):
    # Only random() is promised to be the same in every version of Python.
    return values[int(rng.random() * len(values))]


def random_ncco(rng, table):
    """One to four actions, each with about half of its options."""
    actions = []
    for _ in range(1 + int(rng.random() * 4)):
        model, needed, options = draw(rng, table)
        actions += ncco(model, {**needed, **{name: draw(rng, values) for name, values in options.items() if rng.random() < 0.5}})
    return actions


def all_nccos():
    table = models()
    nccos = [[]]
    for model, needed, options in table:
        nccos.append(ncco(model, needed))
        nccos += [ncco(model, {**needed, name: value}) for name, values in options.items() for value in values]
        # The last value of BOOLS is False, the first True, and so on: two sets of all options.
        nccos += [ncco(model, {**needed, **{name: values[which] for name, values in options.items()}}) for which in (0, -1)]
    rng = random.Random(2026)
    return nccos + [random_ncco(rng, table) for _ in range(150)]


def sent(actions):
    """As `Voice.transfer_call_ncco` hands it to the HTTP client."""
    return [action.model_dump(by_alias=True, exclude_none=True) for action in actions]


def text():
    """The file: an array with one NCCO a line, each as the HTTP client writes JSON, and none twice."""
    lines = dict.fromkeys(json.dumps(sent(actions), allow_nan=False) for actions in all_nccos())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else VECTORS
    path.write_text(text(), encoding="utf-8")
