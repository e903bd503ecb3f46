# SPDX-License-Identifier: MIT
#
# The JSON Schemas that `switchboard schema` prints, by a validator that is not ours. Lint decides: what has no error there must validate,
# and what has one must not, but for what a schema cannot say, which stands in tables with the reason. So an editor underlines what lint
# would report, and nothing else.

import json
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

import mutants
import support
from jsonschema import Draft202012Validator

# Lint's errors that a schema cannot say, each with why. Of each there must be a vector that the schema lets through.
UNSAYABLE = {
    "NCCO001": "of what no parser refuses: a schema sets no limit to depth where objects are free",
    "NCCO004": "a repeated key: a schema is given what the parser made of the text, one of the two",
    "NCCO020": "bargeIn without an input behind it: a schema cannot relate an element of an array to the next",
}
# No parser gives a schema anything to look at.
NOT_JSON = {"NCCO001", "NCCO003"}

# The same for flows.json: a document for each.
FLOWS_UNSAYABLE = {
    "FLOW004": ('{"flows": {"answer": [{"ncco": "a"}], "answer": [{"ncco": "a"}]}}', "a repeated key: as NCCO004"),
    "FLOW006": ('{"flows": {"answer": [{"ncco": "b"}]}}', "a missing template: a schema sees no folder"),
    "FLOW009": (
        '{"flows": {"answer": [{"when": {"now": {"zone": "Europe/Atlantis"}}, "ncco": "a"}, {"ncco": "a"}]}}',
        "an unknown zone: the list is the machine's",
    ),
    "FLOW010": (
        '{"flows": {"answer": [{"when": {"now": {"between": ["09:00", "09:00"], "zone": "UTC"}}, "ncco": "a"}, {"ncco": "a"}]}}',
        "hours that end as they begin: a schema cannot compare two values",
    ),
    "FLOW011": (
        '{"vars": {"tier": "x"}, "flows": {"answer": [{"when": {"tier": "x"}, "ncco": "a"}, {"ncco": "a"}]}}',
        "a condition that is the same for all requests, or that excludes another: a schema cannot compare names, or follow not",
    ),
}
# flows.json with a mistake of each other kind.
FLOWS_SAYABLE = {
    "FLOW002": [
        '[]', '{"flows": []}', '{"flows": {"answer": {"ncco": "a"}}}', '{"flows": {"answer": [{"ncco": 1}]}}',
        '{"vars": [], "flows": {"answer": [{"ncco": "a"}]}}',
    ],
    "FLOW003": ['{}', '{"flows": {}}', '{"flows": {"answer": []}}', '{"flows": {"answer": [{"when": {}}]}}'],
    "FLOW005": [
        '{"flows": {"a b": [{"ncco": "a"}]}}', '{"vars": {"base_url": "x"}, "flows": {"answer": [{"ncco": "a"}]}}',
        '{"flows": {"answer": [{"when": {"a..b": "x"}, "ncco": "a"}]}}',
    ],
    "FLOW007": [
        '{"flows": {"answer": [{"when": {"to": {"ends_with": "x"}}, "ncco": "a"}]}}',
        '{"flows": {"answer": [{"when": {"to": {"is": "user_name", "not": "x"}}, "ncco": "a"}]}}',
        '{"flows": {"answer": [{"when": {"now": {"after": "09:00"}}, "ncco": "a"}]}}',
    ],
    "FLOW008": ['{"flows": {"answer": [{"when": {"to": {"is": "number"}}, "ncco": "a"}]}}'],
    "FLOW010": [
        '{"flows": {"answer": [{"when": {"now": {"between": ["9:00", "17:00"], "zone": "UTC"}}, "ncco": "a"}]}}',
        '{"flows": {"answer": [{"when": {"now": {"days": ["monday"], "zone": "UTC"}}, "ncco": "a"}]}}',
        '{"flows": {"answer": [{"when": {"now": {"between": ["24:00", "06:00"], "zone": "UTC"}}, "ncco": "a"}]}}',
    ],
}


def schema(name):
    code, output = support.switchboard("schema", name)
    if code != 0:
        raise AssertionError(f"switchboard schema {name}: exit code {code}")
    return json.loads(output)


def why(validator, document):
    """What the validator says, short enough to read."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


def lint_files(paths):
    """The errors and the rest that lint finds in each file, hundreds of them in one run: ({path: [finding]}, {path: [finding]})."""
    errors, warnings = {str(path): [] for path in paths}, {str(path): [] for path in paths}
    for start in range(0, len(paths), 300):
        _, output = support.switchboard("lint", "--format", "json", *paths[start : start + 300])
        for finding in json.loads(output)["findings"]:
            if finding["severity"] == "error":
                errors[finding["file"]].append(finding)
            else:
                warnings[finding["file"]].append(finding)
    return errors, warnings


class NCCOSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = schema("ncco")
        cls.validator = Draft202012Validator(cls.schema)
        # A vector of lint is thousands of levels deep.
        cls.limit = sys.getrecursionlimit()
        sys.setrecursionlimit(20_000)

    @classmethod
    def tearDownClass(cls):
        sys.setrecursionlimit(cls.limit)

    def test_it_is_a_schema(self):
        Draft202012Validator.check_schema(self.schema)
        self.assertEqual(self.schema["$schema"], Draft202012Validator.META_SCHEMA["$id"])

    def test_each_reference_leads_somewhere(self):
        references = set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(self.schema)))
        self.assertEqual(references, set(self.schema["$defs"]))

    def test_what_is_valid_validates(self):
        vectors = [
            *support.folder_vectors("valid", "examples"), *support.encoded_vectors(), *support.python_vectors(),
            *((path.name, support.read(path)) for path in support.files(support.NCCOS) if path.name != "flows.json"),
        ]
        self.assertGreater(len(vectors), 300)
        for name, ncco in vectors:
            with self.subTest(name):
                self.assertEqual(why(self.validator, ncco), [])

    def test_what_lint_calls_an_error_does_not_validate_and_the_rest_does(self):
        severities = {}
        for line in (support.VECTORS / "lint/expected.txt").read_text(encoding="utf-8").splitlines():
            file, severity, code = re.match(r"([^:]+):\d+:\d+: (\w+) (\w+) ", line).groups()
            severities.setdefault(file, set()).add((severity, code))
        self.assertEqual(set(severities), {path.name for path in support.files(support.VECTORS / "lint")})
        let_through, unreadable = set(), set()
        for file, found in sorted(severities.items()):
            codes = {code for severity, code in found if severity == "error"}
            try:
                document = support.read(support.VECTORS / "lint" / file)
            except json.JSONDecodeError:
                unreadable |= codes
                continue
            with self.subTest(file):
                if not codes:
                    self.assertEqual(why(self.validator, document), [])
                elif self.validator.is_valid(document):
                    self.assertLessEqual(codes, set(UNSAYABLE), f"{file} validates")
                    let_through |= codes
        self.assertEqual(let_through, set(UNSAYABLE))
        self.assertEqual(unreadable, NOT_JSON)

    def test_lint_and_schema_agree_on_what_was_changed_at_random(self):
        rng = random.Random(2026)
        sources = [
            ncco for _, ncco in [*support.folder_vectors("valid", "examples"), *support.encoded_vectors(), *support.lenient_vectors()]
        ]
        documents = [mutants.mutant(rng, mutants.draw(rng, sources)) for _ in range(2000)]
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{index}.json" for index in range(len(documents))]
            for path, document in zip(paths, documents):
                path.write_text(json.dumps(document), encoding="utf-8")
            errors, warnings = lint_files(paths)
        counts = {True: 0, False: 0}
        for path, document in zip(map(str, paths), documents):
            is_valid = self.validator.is_valid(document)
            counts[is_valid] += 1
            if is_valid:
                unsaid = [finding for finding in errors[path] if not self.is_unsayable(finding, warnings[path])]
                self.assertEqual(unsaid, [], json.dumps(document))
            elif not errors[path]:
                self.fail(f"lint has no error for {json.dumps(document)}: {why(self.validator, document)}")
        self.assertGreater(min(counts.values()), 400)

    @staticmethod
    def is_unsayable(finding, warnings):
        """A regular expression tells no range of numbers, and not in every dialect what a digit of another script is."""
        is_number_as_text = any(other["code"] == "NCCO113" and other["path"] == finding["path"] for other in warnings)
        has_other_digits = finding["code"] == "NCCO021" and any(sign.isdigit() and not sign.isascii() for sign in finding["message"])
        return finding["code"] in UNSAYABLE or (finding["code"] == "NCCO010" and is_number_as_text) or has_other_digits


class FlowSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = schema("flows")
        cls.validator = Draft202012Validator(cls.schema)

    def lint(self, documents):
        """The errors of each text of flows.json, beside templates of its own."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for index, document in enumerate(documents):
                path = Path(folder) / str(index)
                path.mkdir()
                (path / "flows.json").write_text(document, encoding="utf-8")
                (path / "a.json").write_text('[{"action": "talk", "text": "Hello."}]', encoding="utf-8")
                paths.append(path / "flows.json")
            errors, _ = lint_files(paths)
        return [errors[str(path)] for path in paths]

    def test_it_is_a_schema(self):
        Draft202012Validator.check_schema(self.schema)
        self.assertEqual(self.schema["$schema"], Draft202012Validator.META_SCHEMA["$id"])

    def test_the_shipped_flows_validate(self):
        self.assertEqual(why(self.validator, support.read(support.NCCOS / "flows.json")), [])

    def test_what_it_can_say_does_not_validate(self):
        for code, documents in FLOWS_SAYABLE.items():
            for document, errors in zip(documents, self.lint(documents)):
                with self.subTest(document):
                    self.assertIn(code, {finding["code"] for finding in errors})
                    self.assertFalse(self.validator.is_valid(json.loads(document)))

    def test_what_it_cannot_say_validates(self):
        for code, (document, _) in FLOWS_UNSAYABLE.items():
            with self.subTest(code):
                self.assertEqual({finding["code"] for finding in self.lint([document])[0]}, {code})
                self.assertEqual(why(self.validator, json.loads(document)), [])

    def test_vectors_of_flows(self):
        if not support.FLOW_VECTORS.is_dir():
            self.skipTest("there are no vectors of flows")
        for folder in sorted(path for path in support.FLOW_VECTORS.iterdir() if (path / "flows.json").is_file()):
            expected = (folder / "expected.txt").read_text(encoding="utf-8") if (folder / "expected.txt").exists() else ""
            codes = set(re.findall(r"^(?:\S*/)?flows\.json:\d+:\d+: error (\w+) ", expected, re.MULTILINE))
            try:
                document = support.read(folder / "flows.json")
            except ValueError:
                continue
            with self.subTest(folder.name):
                if not codes:
                    self.assertEqual(why(self.validator, document), [])
                elif codes - set(FLOWS_UNSAYABLE):
                    self.assertFalse(self.validator.is_valid(document))

    def test_lint_and_schema_agree_on_what_was_changed_at_random(self):
        rng = random.Random(2026)
        source = support.read(support.NCCOS / "flows.json")
        source["comment"] = "Conditions that the shipped flows do not have are here."
        source["flows"]["more"] = [
            {"when": {"a.b": {"not": {"starts_with": ["x", "y"]}}, "now": {"not": {"days": ["sat"], "zone": "UTC"}}}, "ncco": "a"},
            {"when": {"a": ["x", 1, True], "b": 5, "c": {"starts_with": "x"}}, "ncco": "a", "comment": ["x"]},
        ]
        for rules in source["flows"].values():
            for rule in rules:
                rule["ncco"] = "a"
        documents = [mutants.mutant(rng, source) for _ in range(1000)]
        counts = {True: 0, False: 0}
        for document, errors in zip(documents, self.lint(list(map(json.dumps, documents)))):
            is_valid = self.validator.is_valid(document)
            counts[is_valid] += 1
            if is_valid:
                self.assertEqual([finding for finding in errors if finding["code"] not in FLOWS_UNSAYABLE], [], json.dumps(document))
            elif not errors:
                self.fail(f"lint has no error for {json.dumps(document)}: {why(self.validator, document)}")
        self.assertGreater(min(counts.values()), 200)


if __name__ == "__main__":
    unittest.main()
