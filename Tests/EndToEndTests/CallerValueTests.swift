// SPDX-License-Identifier: MIT
//
// What callers send is data. Whatever stands in `to`, `from_user` or `custom_data`, the answer is an NCCO with the actions that its rule has, and
// the value is a value of it or nowhere.

import Foundation
import HTTPServer
import Switchboard
import Testing

struct CallerValueTests {
    private func actions(_ answer: Answer) throws -> [[String: Any]] { try #require(try answer.json() as? [[String: Any]]) }

    /// The user that is connected to, where the answer is exactly that.
    private func connectedUser(_ answer: Answer) throws -> String? {
        let actions = try actions(answer)
        guard actions.count == 1, actions[0]["action"] as? String == "connect", Set(actions[0].keys) == ["action", "endpoint"] else {
            return nil
        }
        let endpoint = try #require((actions[0]["endpoint"] as? [[String: String]])?.first)
        return endpoint["type"] == "app" && endpoint.count == 2 ? endpoint["user"] : nil
    }

    private func isRefusal(_ answer: Answer) throws -> Bool {
        let actions = try actions(answer)
        return answer.status == 200 && actions.count == 1 && actions[0]["action"] as? String == "talk"
            && answer["X-Switchboard-Warning"] != nil
    }

    static let names = [
        #"Robert"},{"action":"record"},{"x":""#, "\"]}]", #"back\slash"#, #"\"#, "{{x}}", "{{to|y}}", "emoji 😀 👩‍👩‍👧", "é", "e\u{301}",
        "<script>alert(1)</script>",
        "a/b?c#d&e=f", "' OR 1=1 --", "\u{202E}evil", "null", "true", "[1,2]x", "switchboard:gap", "999999999999999x", "Zoë+Büro", "%00",
        "%41lice", "%", "%zz%4",
    ]

    @Test(arguments: names)
    func `a name is connected to as it is`(_ name: String) throws {
        try withServer { server throws in
            var allowed = CharacterSet.alphanumerics
            allowed.formIntersection(CharacterSet(charactersIn: Unicode.Scalar(0)..."\u{7F}"))
            let escaped = try #require(name.addingPercentEncoding(withAllowedCharacters: allowed))
            let quoted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
            for request in [
                get("/voice/answer?from_user=\(escaped)&to=\(escaped)"),
                post("/voice/answer", "from_user=\(escaped)&to=\(escaped)", type: "application/x-www-form-urlencoded"),
                post("/voice/answer", #"{"from_user":\#(quoted),"to":\#(quoted)}"#),
                post("/voice/answer", #"{"from_user":"A","custom_data":{"to":\#(quoted)}}"#),
                get(
                    "/voice/answer?from_user=A&custom_data=%7B%22to%22%3A\(try #require(quoted.addingPercentEncoding(withAllowedCharacters: allowed)))%7D"
                ),
            ] {
                let answer = try server.ask(request)
                #expect(try connectedUser(answer)?.unicodeScalars.elementsEqual(name.unicodeScalars) == true, "\(answer)")
                #expect(answer["X-Switchboard-Warning"] == nil)
            }
        }
    }

    @Test(arguments: [
        "a\r\nSet-Cookie: x=1", "a\nb", "a\u{0}b", "\u{1B}[2J", "a\u{7F}", "a\u{85}b", String(repeating: "x", count: 101),
        String(repeating: "😀", count: 101),
    ])
    func `what is no name and no number is refused in words`(_ value: String) throws {
        try withServer { server throws in
            var allowed = CharacterSet.alphanumerics
            allowed.formIntersection(CharacterSet(charactersIn: Unicode.Scalar(0)..."\u{7F}"))
            let escaped = try #require(value.addingPercentEncoding(withAllowedCharacters: allowed))
            let quoted = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            for request in [get("/voice/answer?from_user=A&to=\(escaped)"), post("/voice/answer", #"{"from_user":"A","to":\#(quoted)}"#)] {
                let answer = try server.ask(request)
                #expect(try isRefusal(answer), "\(answer)")
                #expect(answer["X-Switchboard-Warning"] == "to is neither a phone number nor a user name")
                #expect(answer["Set-Cookie"] == nil)
            }
        }
    }

    @Test func `bytes that are no UTF-8 and lone surrogates refuse nothing but the name`() throws {
        try withServer { server throws in
            for request in [
                get("/voice/answer?from_user=A&to=Al%ffice"),
                post("/voice/answer", "from_user=A&to=%c3%28x", type: "application/x-www-form-urlencoded"),
            ] {
                #expect(try isRefusal(try server.ask(request)))
            }
            let surrogate = try server.ask(post("/voice/answer", #"{"from_user":"A","to":"x\ud800y"}"#))
            #expect(try isRefusal(surrogate) || connectedUser(surrogate) == "x\u{FFFD}y", "\(surrogate)")
            // A caller with such a name still reaches a number.
            for request in [
                get("/voice/answer?from_user=%ff%fe&to=447700900123"),
                post("/voice/answer", #"{"from_user":"\udc00","to":"447700900123"}"#),
            ] {
                let answer = try server.ask(request)
                #expect(try actions(answer).count == 2)
                #expect(answer["X-Switchboard-Flow"] == "answer#3 connect-phone")
            }
            let lines = try server.stopAndRead()
            #expect(lines.count == 5)
            #expect((lines[0].members["request"] as? [String: Any])?["to"] as? String == "Al\u{FFFD}ice")
        }
    }

    @Test(arguments: [
        "x", "{", "[]", "[1]", "\"text\"", "null", "true", "12", #"{"to":null}"#, #"{"to":{}}"#, #"{"to":[]}"#, #"{"TO":"Bob"}"#,
        #"{"a":{"to":"Bob"}}"#, "\u{0}",
    ])
    func `custom data of any kind is no failure`(_ data: String) throws {
        try withServer { server throws in
            var allowed = CharacterSet.alphanumerics
            allowed.formIntersection(CharacterSet(charactersIn: Unicode.Scalar(0)..."\u{7F}"))
            let escaped = try #require(data.addingPercentEncoding(withAllowedCharacters: allowed))
            let number = try server.ask(get("/voice/answer?from_user=A&to=447700900123&custom_data=\(escaped)"))
            #expect(number["X-Switchboard-Flow"] == "answer#3 connect-phone")
            #expect(try isRefusal(try server.ask(get("/voice/answer?from_user=A&custom_data=\(escaped)"))))
            let text = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
            #expect(try isRefusal(try server.ask(post("/voice/answer", #"{"from_user":"A","custom_data":\#(text)}"#))))
        }
    }

    @Test(arguments: [
        ("null", "to is missing or empty"), ("{}", "to is neither a phone number nor a user name"),
        (#"["Bob"]"#, "to is neither a phone number nor a user name"), ("true", "to is neither a phone number nor a user name"),
    ])
    func `only a text or a number can be called`(_ value: String, _ warning: String) throws {
        try withServer { server throws in
            for body in [#"{"from_user":"A","to":\#(value)}"#, #"{"from_user":"A","custom_data":{"to":\#(value)}}"#] {
                let answer = try server.ask(post("/voice/answer", body))
                #expect(try isRefusal(answer), "\(answer)")
                #expect(answer["X-Switchboard-Warning"] == warning)
            }
            for body in [#"{"from_user":"A","to":447700900123}"#, #"{"from_user":"A","custom_data":"{\"to\":447700900123}"}"#] {
                #expect(try server.ask(post("/voice/answer", body))["X-Switchboard-Flow"] == "answer#3 connect-phone")
            }
            // A text that looks like null is one.
            #expect(
                try connectedUser(try server.ask(post("/voice/answer", #"{"from_user":"null","to":"null","n":1,"custom_data":null}"#)))
                    == "null")
        }
    }

    @Test(arguments: [
        ("from_user=A", "to is missing or empty"), ("from_user=A&to=", "to is missing or empty"),
        ("from_user=A&to=%20+", "to is missing or empty"), ("", "to is missing or empty"),
        ("to=Bob", "to is a user name but from_user is missing"), ("from_user=&to=Bob", "to is a user name but from_user is missing"),
        ("from=447700900999&to=447700900123", "to is none of the configured numbers and from is not ours"),
        ("from_user=A&to=112", "to is an emergency or short number; a phone number has 7 to 15 digits"),
        ("from_user=A&to=911", "to is an emergency or short number; a phone number has 7 to 15 digits"),
        ("from_user=A&to=%2B1-1-2", "to is an emergency or short number; a phone number has 7 to 15 digits"),
        ("from_user=A&to=00112", "to is an emergency or short number; a phone number has 7 to 15 digits"),
        ("to=999", "to is an emergency or short number; a phone number has 7 to 15 digits"),
        ("from_user=A&to=1234567890123456", "to has more than 15 digits"),
        ("from_user=A&to=" + String(repeating: "7", count: 4096), "to has more than 15 digits"),
        ("from_user=A&to=0447700900123", "to is neither a phone number nor a user name"),
        ("from_user=A&to=%2B%2B%2B", "to is neither a phone number nor a user name"),
    ])
    func `what cannot be connected is spoken, and the warning is fixed words`(_ query: String, _ warning: String) throws {
        try withServer { server throws in
            let answer = try server.ask(get("/voice/answer?\(query)"))
            #expect(try isRefusal(answer), "\(answer)")
            #expect(answer["X-Switchboard-Warning"] == warning)
            #expect(answer["X-Switchboard-Flow"] == "answer#6 cannot-connect")
            #expect(!answer.text.contains("77777") && !answer.text.contains("Bob"))
        }
    }

    @Test(arguments: [
        "%D9%A4%D9%A4%D9%A7%D9%A7%D9%A0%D9%A0%D9%A9%D9%A0%D9%A0%D9%A1%D9%A2%D9%A3",
        "%EF%BC%94%EF%BC%94%EF%BC%97%EF%BC%97%EF%BC%90%EF%BC%90%EF%BC%99%EF%BC%90",
    ])
    func `digits that are not ASCII are neither a phone number nor a name`(_ digits: String) throws {
        try withServer { server throws in
            #expect(try isRefusal(try server.ask(get("/voice/answer?from_user=A&to=\(digits)"))))
            #expect(try isRefusal(try server.ask(get("/voice/answer?to=\(digits)"))))
        }
    }

    @Test func `a caller rings the app user, and is never sent on to what was dialled`() throws {
        try withServer { server throws in
            let answer = try server.ask(get("/voice/answer?from=447700900999&to=\(TestServer.ourNumber)"))
            #expect(answer["X-Switchboard-Flow"] == "answer#1 ring-user")
            let first = try #require(try actions(answer).first)
            #expect(first["from"] as? String == "447700900999")
            #expect((first["endpoint"] as? [[String: String]]) == [["type": "app", "user": "Alice"]])
            #expect(first["timeout"] as? Int == 45)
            // A hidden caller rings too.
            let hidden = try server.ask(get("/voice/answer?from=anonymous&to=\(TestServer.ourNumber)"))
            #expect(try actions(hidden).first?["from"] == nil)
            #expect(hidden["X-Switchboard-Flow"] == "answer#1 ring-user")
        }
        func adjust(_ settings: inout Settings) { settings.numbers = [] }
        try withServer(adjust: adjust) { server throws in
            let any = try server.ask(get("/voice/answer?from=447700900999&to=447700900123"))
            #expect(any["X-Switchboard-Flow"] == "answer#1 ring-user")
            let out = try server.ask(get("/voice/answer?from_user=A&to=447700900123"))
            #expect(try actions(out).last?["from"] == nil)
        }
    }
}
