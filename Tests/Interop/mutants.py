# SPDX-License-Identifier: MIT
#
# JSON documents with one thing wrong, or at least other: what is likely to tell two checkers of the same rules apart.

import copy

# One of each type, what stands at the edges of ranges, and texts that some options take and others do not.
VALUES = [
    None, True, False, 0, 1, -1, 1.5, 2.0, 45, 7201, 1e9,
    "", " ", "x", "true", "2", "-0.5", "1e1", "x" * 101, "u" * 257, "a\nb", "Zürich", "\u0661\u0662\u0663",
    "{{to}}", "{{ to | x }}", "{{to|}}", "a {{to}}", "{{", "{{a b}}", "{{to|14155550100}}", "{{to|https://calls.example.com/}}",
    "https://calls.example.com/{{to}}", "https://calls.example.com/", "HTTP://[::1]:80/a?b#c", "https:///a", "https://a b/", "ws://a",
    "sip:a@b", "sips:b", "sip:@b", "sip:a@@b;c", "14155550100", "+14155550100", "0044770090", "en-GB", "en_GB", "0", "#", "1p",
    "POST", "GET", "speech", "dtmf", "default", "custom", "synchronous", "asynchronous",
    "<speak></speak>", "<speak><break/></speak>", "<speak> </speak>",
    "mon", "Mon", "SUN", "monday", "UTC", "09:00", "24:00", "25:00", "own_number",
    [], ["x"], ["dtmf"], ["dtmf", "dtmf"], ["{{to}}", "{{to}}"], [["x"]], ["https://calls.example.com/"], [1], [None],
    ["09:00", "17:30"], ["24:00", "06:00"], ["22:00", "24:00"],
    {}, {"a": 1}, {"a": "b"}, {"a": ["{{"]}, {"type": "custom"}, {"type": "app", "user": "a"},
    {"present": True}, {"not": "x"}, {"is": "sip_uri"}, {"zone": "UTC", "days": ["mon"]},
]
KEYS = [
    "x", "", "a b", "a..b", "action", "type", "text", "from", "mute", "canSpeak", "record", "transcription", "mode", "dtmf", "speech",
    "uri", "user", "domain", "maxDigits", "channels", "randomFromNumber", "conversation_id", "value", "loop", "when", "ncco", "not", "now",
    "zone", "between", "starts_with", "is", "present", "vars", "to", "own_number", "company",
]


def draw(rng, values):
    # Only random() is promised to be the same in every version of Python.
    return values[int(rng.random() * len(values))]


def places(document):
    """(holder, key or index) for each value but the outermost."""
    steps = [document]
    while steps:
        holder = steps.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], (dict, list)):
                steps.append(holder[key])


def mutant(rng, document):
    """A copy in which one value is another, gone, or twice, or has one more member."""
    document = copy.deepcopy(document)
    found = list(places(document))
    if not found:
        return draw(rng, VALUES)
    holder, key = draw(rng, found)
    kind = rng.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.25 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif kind < 0.45 and isinstance(holder, dict):
        holder[draw(rng, KEYS)] = copy.deepcopy(draw(rng, VALUES))
    else:
        holder[key] = copy.deepcopy(draw(rng, VALUES))
    return document
