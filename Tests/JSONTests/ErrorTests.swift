// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

struct ErrorTests {
    @Test(arguments: [
        ("{\n  \"a\": [1,\n    2 3]\n}", "line 3, column 7: expected a comma or ']' after an array element, found '3'"),
        ("[1,]", "line 1, column 4: expected a value after the comma, found ']'"),
        ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes after the comma, found '}'"),
        ("{\"zü\" 1}", "line 1, column 7: expected a colon after the key, found '1'"),
        ("[\"a\nb\"]", "line 1, column 4: expected a string without bare control characters (write \\n, \\t or \\u00XX), found byte 0x0a"),
        ("{\"a\":", "line 1, column 6: expected a value after the colon, found the end of the text"),
        ("", "line 1, column 1: expected a value, found the end of the text"),
        ("{}\n[]", "line 2, column 1: expected nothing behind the value, found '['"),
        ("\u{FEFF}{}", "line 1, column 1: expected text without a byte-order mark, found one"),
        ("[é]", "line 1, column 2: expected a value or ']', found byte 0xc3"),
        ("[\u{1B}]", "line 1, column 2: expected a value or ']', found byte 0x1b"),
        ("[01]", "line 1, column 3: expected no digit after a leading zero, found '1'"),
    ])
    func `an error says where, what should have stood there and what did`(text: String, description: String) {
        let error = #expect(throws: JSONError.self) { try minified(text) }
        #expect(error?.description == description)
    }

    @Test func `nesting beyond the limit is named with the limit`() {
        let error = #expect(throws: JSONError.self) { try minified(Array("[[[]]]".utf8), maximumDepth: 2) }
        #expect(error?.description == "line 1, column 3: expected at most 2 levels of nesting, found one more")
        #expect(error?.line == 1)
        #expect(error?.column == 3)
    }

    @Test func `whatever was found is shown in printable ASCII`() {
        for byte in UInt8.min...UInt8.max {
            guard let error = #expect(throws: JSONError.self, performing: { try minified([0x5B, byte, byte, 0x7D]) }) else { continue }
            #expect(error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(byte)")
        }
    }

    @Test(arguments: [(0, 1, 1), (1, 1, 2), (3, 1, 3), (4, 2, 1), (5, 2, 2), (6, 3, 1), (7, 3, 1), (-5, 1, 1), (.max, 3, 1)])
    func `a position counts lines and scalars from one`(offset: Int, line: Int, column: Int) {
        let position = JSONPosition(of: offset, in: Array("aü\nb\n".utf8).span)
        #expect(position.line == line)
        #expect(position.column == column)
    }
}
