# SPDX-License-Identifier: MIT
#
# `/openapi.json` held against the server that serves it, by schemathesis: whatever it makes of the description is answered without a fault of
# the server, by a described status, type and body, and what is against the description is refused.
#
# Left out are the stream without an end, and the pages on which a browser logs in and out, where it would be kept out after ten attempts. QUERY
# is no method that is known here, and 501 is what RFC 9110 wants for one.

import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import NCCOS, Server

TOKEN = "the-admin-token-of-interop"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection"
CONFIGURATION = """
[phases.coverage]
unexpected-methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"]
"""


class OpenAPITest(unittest.TestCase):
    def test_the_server_is_as_it_is_described(self):
        with Server(NCCOS, "--simulate", "--open-apps", "--open-apps-limit", "1000/s", "--admin-token-file", self.token()) as server:
            work = Path(server.work)
            (work / "schemathesis.toml").write_text(CONFIGURATION)
            run = subprocess.run(
                [
                    sys.executable, "-W", "ignore", "-c", "from schemathesis.cli import schemathesis; schemathesis()",
                    "--config-file", str(work / "schemathesis.toml"), "run",
                    f"http://127.0.0.1:{server.connection.port}/openapi.json", "-H", f"Authorization: Bearer {TOKEN}",
                    "--exclude-path", "/calls/stream", "--exclude-path-regex", "^/log(in|out)$", "--checks", CHECKS, "-n", "40",
                    "--phases", "examples,coverage,fuzzing", "--seed", "5", "--no-color",
                ],
                cwd=work, capture_output=True, encoding="utf-8", timeout=300, env={"PATH": os.environ["PATH"]})
            self.assertEqual(run.returncode, 0, run.stdout[-6000:] + run.stderr[-2000:])
            self.assertRegex(run.stdout, r"Tested: (2[89]|[3-9]\d)")

    def test_strangers_find_the_same_description(self):
        with Server(NCCOS) as server:
            server.connection.request("GET", "/openapi.json")
            document = json.loads(server.connection.getresponse().read())
            self.assertEqual(document["openapi"], "3.1.0")
            server.connection.request("GET", "/users")
            self.assertEqual(server.connection.getresponse().status, http.client.NOT_FOUND)

    def token(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".token")
        file.write(TOKEN)
        file.flush()
        self.addCleanup(file.close)
        return file.name
