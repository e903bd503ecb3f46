// SPDX-License-Identifier: MIT
//
// What becomes of a template's placeholders. Each vector is a template, a request body, and what is sent; nil where `cannot-connect` is sent.

import Foundation
import JSON
import NCCO
import Testing

@testable import Switchboard

struct TemplateTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let template, body: String
        let sent: String?
        var testDescription: String { "\(template) with \(body.prefix(80))" }
        init(_ template: String, _ body: String, _ sent: String?) { (self.template, self.body, self.sent) = (template, body, sent) }
    }

    private static let variables = """
        "vars": {"text": "A & B", "number": 5, "yes": true, "nothing": null, "phone": "+44 7700 900123", "site": "https://media.example.com",
                 "markup": "<speak>Hello ", "list": [1, "two", {"x": 3}], "object": {"a": {"b": "c"}, "e": null}}
        """

    private func bench(_ template: String, numbers: [String] = ["14155550100"]) throws -> FlowBench {
        try FlowBench(
            flows: "{\(Self.variables), \"flows\": {\"answer\": [{\"ncco\": \"t\"}]}}", templates: ["t": template], numbers: numbers)
    }

    private func check(_ vector: Vector, numbers: [String] = ["14155550100"]) throws {
        let answer = try #require(try bench(vector.template, numbers: numbers).ask(body: vector.body))
        if let sent = vector.sent {
            #expect(answer.ncco == sent)
            #expect(answer.flow == "answer#1 t" && !answer.isFault && !answer.isRefusal)
        } else {
            #expect(answer.isFault && answer.isRefusal && answer.flow == "answer#1 cannot-connect", "\(answer.ncco)")
            #expect(answer.ncco == #"[{"action":"talk","text":"This call cannot be connected. We have a technical problem. Goodbye."}]"#)
            #expect(answer.warning?.hasPrefix("t cannot be filled: ") == true)
        }
    }

    /// A talk with this text, as a template and as it is sent.
    private static func talk(_ text: String, _ body: String, _ sent: String?) -> Vector {
        Vector("[{\"action\":\"talk\",\"text\":\"\(text)\"}]", body, sent.map { "[{\"action\":\"talk\",\"text\":\"\($0)\"}]" })
    }

    /// The payload of a notify, as a template and as it is sent.
    private static func payload(_ payload: String, _ body: String, _ sent: String?) -> Vector {
        let (start, end) = (#"[{"action":"notify","payload":"#, #","eventUrl":["https://calls.example.com/e"]}]"#)
        return Vector(start + payload + end, body, sent.map { start + $0 + end })
    }

    /// Options of a connect in front of its endpoint, as a template and as they are sent.
    private static func connect(_ options: String, _ body: String, _ sent: String?) -> Vector {
        let (start, end) = (#"[{"action":"connect","#, #""endpoint":[{"type":"app","user":"Bob"}]}]"#)
        return Vector(start + options + end, body, sent.map { start + $0 + end })
    }

    // MARK: Types

    private static let whole = [
        payload(#"{"a":"{{p}}"}"#, #"{"p":5}"#, #"{"a":5}"#), payload(#"{"a":"{{p}}"}"#, #"{"p":1.50e2}"#, #"{"a":1.50e2}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":true}"#, #"{"a":true}"#), payload(#"{"a":"{{p}}"}"#, #"{"p":"5"}"#, #"{"a":"5"}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":"null"}"#, #"{"a":"null"}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":{"x" : [1, null]}}"#, #"{"a":{"x":[1,null]}}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":[]}"#, #"{"a":[]}"#), payload(#"{"a":"{{ p }}"}"#, #"{"p":"x"}"#, #"{"a":"x"}"#),
        payload(#""{{p}}""#, #"{"p":{"x":1}}"#, #"{"x":1}"#), payload(#""{{p}}""#, #"{"p":"{\"x\": 1}"}"#, #"{"x":1}"#),
        payload(#""{{p}}""#, #"{"p":"x"}"#, nil), payload(#""{{p}}""#, #"{"p":[1]}"#, nil), payload(#""{{p}}""#, #"{"p":"[1]"}"#, nil),
        payload(#""{{p}}""#, "{}", nil),
        payload(#"{"a":"{{custom_data.x.1}}"}"#, #"{"custom_data":"{\"x\":[1,{\"y\":2}]}"}"#, #"{"a":{"y":2}}"#),
        connect(#""timeout":"{{p}}","#, #"{"p":"20"}"#, #""timeout":20,"#),
        connect(#""timeout":"{{p}}","#, #"{"p":20}"#, #""timeout":20,"#),
        connect(#""timeout":"{{p}}","#, #"{"p":"twenty"}"#, nil), connect(#""timeout":"{{p}}","#, #"{"p":0}"#, nil),
        connect(#""timeout":"{{p}}","#, #"{"p":"121"}"#, nil),
        connect(#""timeout":"{{p}}","#, #"{"p":1.5}"#, nil), connect(#""timeout":"{{p}}","#, #"{"p":true}"#, nil),
        connect(#""timeout":"{{p}}","#, #"{"p":[20]}"#, nil),
        connect(#""randomFromNumber":"{{p}}","#, #"{"p":"true"}"#, #""randomFromNumber":true,"#),
        connect(#""randomFromNumber":"{{p}}","#, #"{"p":false}"#, #""randomFromNumber":false,"#),
        connect(#""randomFromNumber":"{{p}}","#, #"{"p":"yes"}"#, nil),
        connect(#""randomFromNumber":"{{p}}","#, #"{"p":1}"#, nil),
        connect(#""machineDetection":"{{p}}","#, #"{"p":"hangup"}"#, #""machineDetection":"hangup","#),
        connect(#""machineDetection":"{{p}}","#, #"{"p":"Hangup"}"#, nil),
        connect(#""eventUrl":"{{p}}","#, #"{"p":["https://a.example.com/"]}"#, #""eventUrl":["https://a.example.com/"],"#),
        connect(#""eventUrl":"{{p}}","#, #"{"p":"https://a.example.com/"}"#, nil),
        connect(#""advancedMachineDetection":"{{p}}","#, #"{"p":{"mode":"detect"}}"#, #""advancedMachineDetection":{"mode":"detect"},"#),
        connect(#""advancedMachineDetection":"{{p}}","#, #"{"p":{"mode":"x"}}"#, nil),
        talk("{{p}}", #"{"p":5}"#, "5"), talk("{{p}}", #"{"p":false}"#, "false"), talk("{{p}}", #"{"p":{"a":1}}"#, nil),
        talk("{{p}}", "{}", nil),
        // Keys and words are text, also where a request has a number.
        Vector(
            #"[{"action":"record","endOnKey":"{{p}}"}]"#, #"{"p":5}"#, #"[{"action":"record","endOnKey":"5"}]"#),
        Vector(
            #"[{"action":"connect","endpoint":[{"type":"sip","uri":"sip:a@b.example.com","headers":{"level":"{{p}}","other":"{{q}}"}}]}]"#,
            #"{"p":3}"#,
            #"[{"action":"connect","endpoint":[{"type":"sip","uri":"sip:a@b.example.com","headers":{"level":"3"}}]}]"#),
    ]

    @Test(arguments: whole) func `a string that is one placeholder takes the type of its value and its option`(_ vector: Vector) throws {
        try check(vector)
    }

    @Test func `a phone number goes out in Vonage's form, whatever it was`() throws {
        let template = #"[{"action":"connect","endpoint":[{"type":"phone","number":"{{to}}"}],"from":"{{own_number}}"}]"#
        for body in [#"{"to":"+44 (7700) 900-123"}"#, #"{"to":"00447700900123"}"#, #"{"to":447700900123}"#, #"{"to":"tel:447700900123"}"#] {
            try check(
                Vector(
                    template, body, #"[{"action":"connect","endpoint":[{"type":"phone","number":"447700900123"}],"from":"14155550100"}]"#))
        }
        for body in [#"{"to":"112"}"#, #"{"to":"Bob"}"#, #"{"to":[447700900123]}"#, "{}"] { try check(Vector(template, body, nil)) }
    }

    @Test func `a caller who hides the number loses its option and not the call`() throws {
        let vector = Self.connect(#""from":"{{from}}","#, #"{"from":"anonymous"}"#, "")
        let answer = try #require(try bench(vector.template).ask(body: vector.body))
        #expect(answer.ncco == vector.sent)
        #expect(answer.flow == "answer#1 t" && !answer.isFault)
        #expect(answer.warning == "from is not a phone number and is left out")
        try check(Self.connect(#""from":"{{from}}","#, "{}", ""))
        // A default stands in also for a number that is none.
        for body in [#"{"from":"anonymous"}"#, "{}"] {
            try check(Self.connect(#""from":"{{from|14155550111}}","#, body, #""from":"14155550111","#))
        }
    }

    // MARK: Missing values

    private static let missing = [
        connect(#""timeout":"{{p}}","limit":"{{q}}","#, "{}", ""),
        connect(#""timeout":"{{p}}","limit":"{{q}}","#, #"{"p":5}"#, #""timeout":5,"#),
        connect(#""timeout":"{{p}}","limit":"{{q}}","#, #"{"q":5}"#, #""limit":5,"#),
        connect(#""timeout":"{{p|30}}","#, "{}", #""timeout":30,"#),
        connect(#""timeout":"{{p|30}}","#, #"{"p":""}"#, #""timeout":30,"#),
        connect(#""timeout":"{{p|30}}","#, #"{"p":null}"#, #""timeout":30,"#),
        connect(#""eventUrl":["{{p}}"],"#, "{}", ""),
        connect(#""eventUrl":["{{p}}"],"#, #"{"p":"https://a.example.com/"}"#, #""eventUrl":["https://a.example.com/"],"#),
        // The first of an object's members may be the one that is left out.
        payload(#"{"a":"{{p}}","b":"{{q}}","c":1}"#, "{}", #"{"c":1}"#),
        payload(#"{"a":"{{p}}","b":"{{q}}","c":1}"#, #"{"p":1}"#, #"{"a":1,"c":1}"#),
        payload(#"{"a":"{{p}}","b":"{{q}}","c":1}"#, #"{"q":1}"#, #"{"b":1,"c":1}"#),
        payload(#"{"a":"{{p}}","b":"{{q}}"}"#, #"{"q":1}"#, #"{"b":1}"#),
        payload(#"{"a":"{{p}}","b":"{{q}}"}"#, #"{"p":1,"q":2}"#, #"{"a":1,"b":2}"#), payload(#"{"a":"{{p}}","b":"{{q}}"}"#, "{}", "{}"),
        payload(#"{"a":1,"b":"{{p}}","c":"{{q}}","d":2}"#, "{}", #"{"a":1,"d":2}"#),
        payload(#"{"a":1,"b":"{{p}}","c":"{{q}}","d":2}"#, #"{"q":0}"#, #"{"a":1,"c":0,"d":2}"#),
        payload(#"{"a":{"b":"{{p}}"},"c":"{{q}}"}"#, "{}", #"{"a":{}}"#),
        payload(#"{"a":"{{p}}","b":{"c":"{{q}}","d":1}}"#, "{}", #"{"b":{"d":1}}"#),
        payload(#"{"a":"{{p}}","b":"x{{q}}"}"#, "{}", #"{"b":"x"}"#), payload(#"{"a":"{{p}}","b":"{{q|y}}"}"#, "{}", #"{"b":"y"}"#),
        payload(#"{"a":"{{p}}","b":"{{text}}"}"#, "{}", #"{"b":"A & B"}"#),
        payload(#"{"a":"{{nothing}}","b":"{{p}}","c":"{{base_url}}"}"#, "{}", #"{"c":"https://calls.example.com"}"#),
        // So may those of a list.
        payload(#"{"a":["{{p}}","{{q}}",1]}"#, "{}", #"{"a":[1]}"#),
        payload(#"{"a":["{{p}}","{{q}}",1]}"#, #"{"p":"x"}"#, #"{"a":["x",1]}"#),
        payload(#"{"a":["{{p}}","{{q}}"]}"#, #"{"q":{}}"#, #"{"a":[{}]}"#), payload(#"{"a":["{{p}}","{{q}}"]}"#, "{}", #"{"a":[]}"#),
        payload(#"{"a":["{{p}}"]}"#, "{}", "{}"),
        payload(#"{"a":[["{{p}}"],["{{q}}"]]}"#, #"{"q":1}"#, #"{"a":[[],[1]]}"#),
        payload(#"{"a":["{{p|x}}","{{q}}","y{{p}}"]}"#, "{}", #"{"a":["x","y"]}"#),
        Vector(
            #"[{"action":"conversation","name":"a","canHear":["{{p}}","{{q}}"],"canSpeak":["{{q}}"]}]"#, #"{"p":"x"}"#,
            #"[{"action":"conversation","name":"a","canHear":["x"]}]"#),
        // A list that must have one has none left.
        Vector(#"[{"action":"stream","streamUrl":["{{p}}"]}]"#, "{}", nil),
        Vector(#"[{"action":"conversation","name":"{{p}}"}]"#, "{}", nil),
        Vector(#"[{"action":"conversation","name":"{{p}}{{q}}"}]"#, "{}", nil),
        Vector(#"[{"action":"conversation","name":"{{p|a}}"}]"#, "{}", #"[{"action":"conversation","name":"a"}]"#),
        Vector(#"[{"action":"conversation","name":"{{p}}-{{q}}"}]"#, "{}", #"[{"action":"conversation","name":"-"}]"#),
        talk("Hello {{p}}!", "{}", "Hello !"), talk("Hello {{p|you}}!", "{}", "Hello you!"),
        talk("Hello {{ p | dear you }}!", "{}", "Hello dear you!"),
        talk("Hello {{p|}}!", "{}", "Hello !"), talk("{{p}}{{q}}", "{}", nil), talk(" {{p}} ", "{}", "  "),
        talk("{{nothing|x}}", "{}", "x"),
    ]

    @Test(arguments: missing) func `what has no value is left out, or takes its default`(_ vector: Vector) throws { try check(vector) }

    @Test func `the action and the type stand first`() throws {
        try check(
            Vector(
                #"[{"timeout":"{{p}}","endpoint":[{"user":"{{to}}","type":"app"}],"action":"connect"}]"#, #"{"to":"Bob","p":5}"#,
                #"[{"action":"connect","timeout":5,"endpoint":[{"type":"app","user":"Bob"}]}]"#))
    }

    // MARK: Variables

    private static let known = [
        talk("{{text}} and {{number}}, {{yes}}{{nothing}}", "{}", "A & B and 5, true"),
        payload(#"{"a":"{{number}}","b":"{{yes}}"}"#, "{}", #"{"a":5,"b":true}"#),
        payload(#"{"a":"{{object}}"}"#, "{}", #"{"a":{"a":{"b":"c"},"e":null}}"#),
        payload(#""{{object}}""#, "{}", #"{"a":{"b":"c"},"e":null}"#),
        payload(#"{"a":"{{object.a}}","b":"{{object.a.b}}","c":"{{object.e}}","d":"{{object.x}}"}"#, "{}", #"{"a":{"b":"c"},"b":"c"}"#),
        payload(
            #"{"a":"{{list.0}}","b":"{{list.1}}","c":"{{list.2.x}}","d":"{{list.3}}","e":"{{list.-1}}","f":"{{list.x}}"}"#, "{}",
            #"{"a":1,"b":"two","c":3}"#),
        talk("{{object.a.b}} {{list.9|none}} {{list}}", "{}", #"c none [1,\"two\",{\"x\":3}]"#),
        Vector(
            #"[{"action":"connect","from":"{{own_number}}","timeout":"{{number}}","endpoint":[{"type":"phone","number":"{{phone}}"}]}]"#,
            "{}",
            #"[{"action":"connect","from":"14155550100","timeout":5,"endpoint":[{"type":"phone","number":"447700900123"}]}]"#),
        Vector(
            #"[{"action":"stream","streamUrl":["{{site}}/a.mp3"]}]"#, "{}",
            #"[{"action":"stream","streamUrl":["https://media.example.com/a.mp3"]}]"#),
        Vector(
            #"[{"action":"connect","endpoint":[{"type":"app","user":"{{inbound_user}}"}]}]"#, "{}",
            #"[{"action":"connect","endpoint":[{"type":"app","user":"Alice"}]}]"#),
        talk("{{refusal|x}} {{base_url}}", "{}", "x https://calls.example.com"),
        // No caller can put anything in the place of what the flows or the server know.
        talk(
            "{{text}} {{own_number}} {{inbound_user}} {{base_url}} {{object.a.b}} {{nothing|-}} {{object.x|-}}",
            #"{"text":"E","own_number":"1","inbound_user":"E","base_url":"E","object":{"a":{"b":"E"},"x":"E"},"object.a.b":"E","object.x":"E","nothing":"E"}"#,
            "A & B 14155550100 Alice https://calls.example.com c - -"),
        payload(#"{"a":"{{object.x}}","b":"{{refusal}}"}"#, #"{"object.x":"E","refusal":"E"}"#, "{}"),
    ]

    @Test(arguments: known) func `what the flows and the server know is filled in when they are read`(_ vector: Vector) throws {
        try check(vector)
    }

    @Test func `without a number of our own its options are left out`() throws {
        try check(Self.connect(#""from":"{{own_number}}","#, #"{"own_number":"1"}"#, ""), numbers: [])
        try check(Self.connect(#""from":"{{own_number|14155550111}}","#, "{}", #""from":"14155550111","#), numbers: [])
        try check(Self.talk("Call {{own_number|us}}", "{}", "Call us"), numbers: [])
        try check(Vector(#"[{"action":"connect","endpoint":[{"type":"phone","number":"{{own_number}}"}]}]"#, "{}", nil), numbers: [])
    }

    @Test func `a refusal is said where the flow says that no call can be made`() throws {
        let bench = try FlowBench(
            flows: #"{"flows": {"answer": [{"ncco": "cannot-connect"}]}}"#,
            templates: ["cannot-connect": #"[{"action":"talk","text":"No: {{refusal}} {{to|nobody}}"}]"#])
        #expect(
            try bench.ask(body: #"{"to":"112"}"#)?.ncco
                == #"[{"action":"talk","text":"No: Emergency and short numbers cannot be called from here. 112"}]"#)
        #expect(try bench.ask()?.ncco == #"[{"action":"talk","text":"No: No one to call was given. nobody"}]"#)
        #expect(try bench.ask()?.warning == "to is missing or empty")
        #expect(try bench.ask()?.isFault == false)
    }

    @Test func `a cannot-connect that cannot be filled gives way to the built-in one`() throws {
        let bench = try FlowBench(
            flows: #"{"flows": {"answer": [{"when": {"to": {"present": true}}, "ncco": "t"}, {"ncco": "cannot-connect"}]}}"#,
            templates: [
                "t": #"[{"action":"conversation","name":"{{p}}"}]"#, "cannot-connect": #"[{"action":"stream","streamUrl":["{{p}}"]}]"#,
            ])
        let last = #"[{"action":"talk","text":"This call cannot be connected. We have a technical problem. Goodbye."}]"#
        #expect(try bench.ask(body: #"{"to":"a"}"#)?.ncco == last)
        #expect(try bench.ask()?.ncco == last)
        #expect(
            try bench.ask(body: #"{"p":"https://a.example.com/"}"#)?.ncco
                == #"[{"action":"stream","streamUrl":["https://a.example.com/"]}]"#)
        #expect(try bench.ask()?.warning == "cannot-connect cannot be filled: streamUrl is missing or not valid")
    }

    // MARK: Injection

    private static let injected = [
        talk("Hello {{p}}", #"{"p":"\"},{\"action\":\"record\"}"}"#, #"Hello \"},{\"action\":\"record\"}"#),
        talk("Hello {{p}}", #"{"p":"\\"}"#, #"Hello \\"#),
        talk("Hello {{p}}", #"{"p":"\\\""}"#, #"Hello \\\""#), talk("Hello {{p}}", #"{"p":"{{to}}","to":"x"}"#, "Hello {{to}}"),
        talk("{{p}}", #"{"p":"{{"}"#, "{{"),
        talk("Hello {{p}}", #"{"p":"\u0000\u0007\n\r\t\u001b"}"#, #"Hello \u0000\u0007\n\r\t\u001b"#),
        talk("Hello {{p}}", #"{"p":"\ud800x"}"#, "Hello \u{FFFD}x"),
        talk("Hello {{p}}", #"{"p":"\ud83d\ude00"}"#, "Hello 😀"), talk("Hello {{p}}", #"{"p":{"a":"\""}}"#, #"Hello {\"a\":\"\\\"\"}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":"}],\"action\":{{"}"#, #"{"a":"}],\"action\":{{"}"#),
        payload(#"{"a":"{{p}}"}"#, #"{"p":{"a":1,"a":2}}"#, nil),
        payload(#"{"a":"{{p}}"}"#, #"{"p":{"b":"{{c}} {{"}}"#, #"{"a":{"b":"{{c}} {{"}}"#),
        payload(#""{{p}}""#, #"{"p":"{\"a\":\"{{\",\"b\":\"\\u007b{\"}"}"#, #"{"a":"{{","b":"\u007b{"}"#),
        // What lint would take for a placeholder is none once it has come with a request.
        connect(#""timeout":"{{p}}","#, #"{"p":"{{p}}"}"#, nil), connect(#""eventType":"{{p}}","#, #"{"p":"{{to}}"}"#, nil),
        connect(#""advancedMachineDetection":"{{p}}","#, #"{"p":{"mode":"{{x}}"}}"#, nil),
        connect(#""advancedMachineDetection":"{{p}}","#, #"{"p":{"mode":"\u007b\u007bx}}"}}"#, nil),
        connect(#""advancedMachineDetection":"{{p}}","#, #"{"p":{"mode":"\u007B{x}}"}}"#, nil),
        Vector(#"[{"action":"connect","endpoint":["{{p}}"]}]"#, #"{"p":"{{x}}"}"#, nil),
        Vector(#"[{"action":"connect","endpoint":[{"type":"app","user":"{{p}}"}]}]"#, #"{"p":"a\nb"}"#, nil),
        Vector(#"[{"action":"connect","endpoint":[{"type":"app","user":"{{p}}"}]}]"#, #"{"p":"447700900123"}"#, nil),
        Vector(#"[{"action":"input","maxDigits":"{{p}}"}]"#, #"{"p":"x"}"#, nil),
        Vector(#"[{"action":"input","maxDigits":"{{p}}"}]"#, #"{"p":4}"#, #"[{"action":"input","maxDigits":4}]"#),
        Vector(#"[{"action":"record","split":"{{p}}","channels":2}]"#, "{}", nil),
    ]

    @Test(arguments: injected) func `no value adds to the NCCO`(_ vector: Vector) throws { try check(vector) }

    private static let markup = [
        talk(
            "<speak>Hi {{p}}</speak>", #"{"p":"<break/> & \"A\" 'B'"}"#,
            "<speak>Hi &lt;break/&gt; &amp; &quot;A&quot; &apos;B&apos;</speak>"),
        talk("<speak>Hi {{p|<b> & }}</speak>", "{}", "<speak>Hi &lt;b&gt; &amp;</speak>"),
        talk("Hi {{p}}", #"{"p":"<b> & \"A\""}"#, #"Hi <b> & \"A\""#),
        talk("{{markup}}{{p}}</speak>", #"{"p":"<break/>"}"#, "<speak>Hello &lt;break/&gt;</speak>"),
    ]

    @Test(arguments: markup) func `a value between the tags of SSML stays a value`(_ vector: Vector) throws { try check(vector) }

    /// A stream's URL, as a template and as it is sent.
    private static func stream(_ url: String, _ body: String, _ sent: String?) -> Vector {
        Vector(
            "[{\"action\":\"stream\",\"streamUrl\":[\"\(url)\"]}]", body, sent.map { "[{\"action\":\"stream\",\"streamUrl\":[\"\($0)\"]}]" }
        )
    }

    private static let urls = [
        stream(
            "https://a.example.com/{{p}}?q={{q}}", #"{"p":"a/b?c#d","q":"x&y=z é"}"#,
            "https://a.example.com/a%2Fb%3Fc%23d?q=x%26y%3Dz%20%C3%A9"),
        stream("{{base_url}}/{{p}}", #"{"p":"@evil.example.com"}"#, "https://calls.example.com/%40evil.example.com"),
        stream("{{base_url}}{{p}}", #"{"p":"@b/"}"#, "https://calls.example.com%40b%2F"),
        stream("{{base_url}}{{p}}", #"{"p":"a"}"#, "https://calls.example.coma"),
        stream("https://{{p}}.example.com/", #"{"p":"a"}"#, "https://a.example.com/"),
        stream("https://{{p}}.example.com/", #"{"p":"a/b"}"#, "https://a%2Fb.example.com/"),
        stream("https://a.example.com:{{p}}/", #"{"p":"80"}"#, "https://a.example.com:80/"),
        stream("https://a.example.com:{{p}}/", #"{"p":"80@b"}"#, nil),
        stream("{{site}}/{{p}}", #"{"p":"a b"}"#, "https://media.example.com/a%20b"),
        stream("{{p}}", #"{"p":"https://b.example.com/%zz"}"#, "https://b.example.com/%zz"),
        stream("{{p}}", #"{"p":"javascript:alert(1)"}"#, nil), stream("{{p}}", #"{"p":"https://b.example.com/a b"}"#, nil),
        stream("{{p}}", #"{"p":5}"#, nil),
        stream("https://a.example.com/{{p|a b}}", "{}", "https://a.example.com/a%20b"),
        // The template's own text is not encoded; lint cannot see into it before it is filled.
        stream("https://a.example.com/ü/{{p}}", #"{"p":"a"}"#, nil), stream("{{base_url}}/a b/{{p}}", #"{"p":"a"}"#, nil),
        stream("https:///{{p}}", #"{"p":"a"}"#, nil),
    ]

    @Test(arguments: urls) func `a value in a URL is percent-encoded, and what becomes no URL is refused`(_ vector: Vector) throws {
        try check(vector)
    }

    @Test func `long values are refused where they are spoken, and pass elsewhere`() throws {
        let long = String(repeating: "x", count: 100_000)
        try check(Self.talk("Hello {{p}}", "{\"p\":\"\(long)\"}", nil))
        try check(
            Self.talk("Hello {{p}}", "{\"p\":\"\(String(repeating: "é", count: 1494))\"}", "Hello " + String(repeating: "é", count: 1494)))
        try check(Self.talk("Hello {{p}}", "{\"p\":\"\(String(repeating: "é", count: 1495))\"}", nil))
        try check(Self.payload(#"{"a":"{{p}}"}"#, "{\"p\":\"\(long)\"}", "{\"a\":\"\(long)\"}"))
        let deep = String(repeating: #"{"a":"#, count: 70) + "1" + String(repeating: "}", count: 70)
        try check(Self.payload(#"{"a":"{{p}}"}"#, "{\"p\":\(deep)}", nil))
        try check(Self.payload(#""{{p}}""#, "{\"p\":\(deep)}", nil))
    }

    @Test func `bytes that are no UTF-8 are shown as U+FFFD`() throws {
        let bench = try bench(#"[{"action":"talk","text":"Hello {{p}}"}]"#)
        #expect(try bench.ask(query: "p=%FFa%C3")?.ncco == "[{\"action\":\"talk\",\"text\":\"Hello \u{FFFD}a\u{FFFD}\"}]")
    }

    // MARK: Bounds

    @Test func `one request is filled as often as it is asked, and nothing of it stays for the next`() throws {
        let set = try bench(#"[{"action":"talk","text":"{{p|none}} {{custom_data.a|none}}"}]"#).set
        var request = FlowRequest()
        for (body, sent) in [
            (#"{"p":"a","custom_data":{"a":"b"}}"#, "a b"), ("{}", "none none"), (#"{"custom_data":{"a":"c"}}"#, "none c"),
            (#"{"p":"d"}"#, "d none"),
        ] {
            let text = Array(body.utf8)
            try request.parameters.read(query: nil, body: text.span, contentType: nil, in: text.span)
            for _ in 0..<2 {
                request.begin(slots: set.paths.count, now: 0)
                var output = Array("before".utf8)
                let served = set.serve(FlowSet.answer, &request, baseURL: [], into: &output)
                #expect(served != nil)
                #expect(String(decoding: output, as: UTF8.self) == "before[{\"action\":\"talk\",\"text\":\"\(sent)\"}]")
            }
        }
    }

    @Test func `a value cannot turn a text into SSML, and a default may`() throws {
        let bench = try FlowBench(
            flows: #"{"flows": {"answer": [{"when": {"to": {"present": true}}, "ncco": "partly"}, {"ncco": "whole"}]}}"#,
            templates: [
                "partly": #"[{"action":"talk","text":"{{to}} calls."}]"#,
                "whole": #"[{"action":"talk","text":"{{from|<speak>Hello.</speak>}}"}]"#,
            ])
        let markup = "<speak>x</speak>"
        #expect(try bench.ask(body: #"{"to":"\#(markup)"}"#)?.ncco == #"[{"action":"talk","text":" \#(markup) calls."}]"#)
        #expect(try bench.ask(body: #"{"from":"\#(markup)"}"#)?.ncco == #"[{"action":"talk","text":" \#(markup)"}]"#)
        #expect(try bench.ask()?.ncco == #"[{"action":"talk","text":"<speak>Hello.</speak>"}]"#)
    }
}
