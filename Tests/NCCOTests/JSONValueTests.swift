// SPDX-License-Identifier: MIT

import NCCO
import Testing

struct JSONValueTests {
    @Test func `an object keeps its order and each name once`() {
        var object: JSONObject = ["b": 1, "a": [], "b": 2]
        #expect(object.members.map(\.name) == ["b", "a"])
        #expect(object["b"] == 2)
        object["c"] = nil
        object["a"] = nil
        object["d"] = ["e": nil]
        #expect(object == ["b": 2, "d": ["e": nil]])
        #expect(object["a"] == nil)
    }

    @Test func `names are equal where their scalars are`() {
        let object: JSONObject = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(object.members.count == 2)
    }

    @Test(arguments: ["0", "-0", "1.50", "1e5", "1E+5", "-12.5e-3", "123456789012345678901234567890"])
    func `a number's text survives`(text: String) throws {
        let json = #"[{"action":"notify","payload":{"n":\#(text)},"eventUrl":["https://example.com/"]}]"#
        #expect(try NCCO(json: json).json == json)
    }

    @Test func `what is nested too deep is refused`() throws {
        func json(_ depth: Int) -> String {
            let lists = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"[{"action":"notify","payload":{"a":\#(lists)},"eventUrl":["https://example.com/"]}]"#
        }
        // The NCCO, the action and the payload are three.
        #expect(try NCCO(json: json(61)).json == json(61))
        let error = #expect(throws: NCCOError.self) { try NCCO(json: json(62)) }
        #expect(error?.line == 1)
        #expect(throws: NCCOError.self) { try NCCO(json: json(100_000)) }
    }
}
