// SPDX-License-Identifier: MIT
//
// The flow that serves where no folder does, and the templates that stand in where a folder lacks one. They are the same texts as in `nccos/`,
// and become a flow in the same way; a test holds the two together.

enum DefaultFlows {
    static let flows = """
        {
          "flows": {
            "answer": [
              { "when": { "from_user": { "present": false }, "from": { "present": true }, "to": { "is": "own_number" } }, "ncco": "ring-user" },
              { "when": { "from_user": { "present": true }, "to": { "is": "user_name" } }, "ncco": "connect-user" },
              { "when": { "from_user": { "present": true }, "to": { "is": "phone_number" } }, "ncco": "connect-phone" },
              { "when": { "from": { "present": false }, "to": { "is": "phone_number" } }, "ncco": "connect-phone" },
              { "when": { "from": { "is": "own_number" }, "to": { "is": "phone_number" } }, "ncco": "connect-phone" },
              { "ncco": "cannot-connect" }
            ],
            "fallback": [{ "ncco": "apology" }]
          }
        }
        """

    static let templates = [
        "ring-user": """
        [
          {
            "action": "connect",
            "from": "{{from}}",
            "timeout": 45,
            "endpoint": [{ "type": "app", "user": "{{inbound_user}}" }]
          },
          { "action": "talk", "text": "Nobody can take your call right now. Please try again later. Goodbye." }
        ]
        """,
        "connect-user": """
        [{ "action": "connect", "endpoint": [{ "type": "app", "user": "{{to}}" }] }]
        """,
        "connect-phone": """
        [
          { "action": "talk", "text": "Please wait while we connect you." },
          { "action": "connect", "from": "{{own_number}}", "endpoint": [{ "type": "phone", "number": "{{to}}" }] }
        ]
        """,
        "cannot-connect": """
        [{ "action": "talk", "text": "This call cannot be connected. {{refusal}} Goodbye." }]
        """,
        "apology": apology,
    ]

    /// What is heard when all else fails: without a placeholder, so that it can be sent as it is.
    static let apology = """
        [{ "action": "talk", "text": "Sorry, we have a technical problem and cannot take your call. Please try again later. Goodbye." }]
        """
}
