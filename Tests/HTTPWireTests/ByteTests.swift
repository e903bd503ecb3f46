// SPDX-License-Identifier: MIT
//
// All 256 bytes in each place of a request, against classes that are spelled out here as the RFCs list them.

import HTTPWire
import Testing

private let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
private let digits = Set("0123456789".utf8)
private let token = letters.union(digits).union("!#$%&'*+-.^_`|~".utf8)
private let visible = Set<UInt8>(0x21...0x7E)
private let value = visible.union([0x09, 0x20]).union(0x80...0xFF)
private let hostName = letters.union(digits).union("-._~".utf8).union("!$&'()*+,;=".utf8)

/// What becomes of `before`, the byte and `after`, in one word: what the request holds, or the fault and where it lies behind `before`.
private func result(_ before: String, _ byte: UInt8, _ after: String, _ show: (Peer.Request) -> Bytes) -> String {
    let outcome = converse([Array(before.utf8) + [byte] + Array(after.utf8)])
    switch outcome.ending {
    case .refused(let error): return "\(error.fault.rawValue) \(error.offset - before.utf8.count)"
    default: return outcome.requests.first.map { show($0).description } ?? "\(outcome.ending)"
    }
}

private func shown(_ before: String, _ byte: UInt8, _ after: String) -> String {
    Bytes(Array(before.utf8) + [byte] + Array(after.utf8)).description
}

@Test func `every byte in a method`() {
    for byte in UInt8.min...UInt8.max {
        let expected = token.contains(byte) ? "unknownMethod -2" : byte == 0x20 ? "badVersion 3" : "badMethod 0"
        #expect(result("GE", byte, "T / HTTP/1.1\r\nHost: a\r\n\r\n", \.target) == expected, "\(byte)")
    }
}

@Test func `every byte in a target`() {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: "#"): "badTarget 0"
            case UInt8(ascii: " "): "badVersion 1"
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"): "badRequestLine 0"
            default: visible.contains(byte) ? shown("/a", byte, "c") : "badTarget 0"
            }
        #expect(result("GET /a", byte, "c HTTP/1.1\r\nHost: a\r\n\r\n", \.target) == expected, "\(byte)")
    }
}

@Test(arguments: ["", "/"]) func `every byte at the start of a target`(_ rest: String) {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: "/"): shown("", byte, rest)
            case UInt8(ascii: " "): "badRequestLine 0"
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"): "badRequestLine 0"
            default: "badTarget 0"
            }
        #expect(result("GET ", byte, rest + " HTTP/1.1\r\nHost: a\r\n\r\n", \.target) == expected, "\(byte)")
    }
}

@Test func `every byte in a version`() {
    for (before, good, after) in [("", "H", "TTP/1.1"), ("HTTP", "/", "1.1"), ("HTTP/1", ".", "1")] {
        for byte in UInt8.min...UInt8.max {
            let expected = good.utf8.contains(byte) ? "\"/\"" : "badVersion 0"
            #expect(result("GET / " + before, byte, after + "\r\nHost: a\r\n\r\n", \.target) == expected, "\(byte) for \(good)")
        }
    }
    for byte in UInt8.min...UInt8.max {
        let major = byte == UInt8(ascii: "1") ? "\"/\"" : digits.contains(byte) ? "unsupportedVersion -5" : "badVersion 0"
        #expect(result("GET / HTTP/", byte, ".1\r\nHost: a\r\n\r\n", \.target) == major, "\(byte)")
        let minor = digits.contains(byte) ? "\"/\"" : "badVersion 0"
        #expect(result("GET / HTTP/1.", byte, "\r\nHost: a\r\n\r\n", \.target) == minor, "\(byte)")
        let end = byte == 0x0D ? "badLineEnd 1" : byte == 0x0A ? "badLineEnd 0" : "badVersion 0"
        #expect(result("GET / HTTP/1.1", byte, "Host: a\r\n\r\n", \.target) == end, "\(byte)")
    }
}

@Test func `every byte in a field name`() {
    for byte in UInt8.min...UInt8.max {
        let expected = token.contains(byte) ? shown("X", byte, "Y") : byte == UInt8(ascii: ":") ? "\"X\"" : "badFieldName 0"
        #expect(result("GET / HTTP/1.1\r\nHost: a\r\nX", byte, "Y: v\r\n\r\n", { $0.fields[1][0] }) == expected, "\(byte)")
    }
}

@Test func `every byte at the start of a field line`() {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): "foldedField 0"
            case UInt8(ascii: "\r"): "badLineEnd"
            default: token.contains(byte) ? shown("", byte, "Y") : "badFieldName 0"
            }
        #expect(result("GET / HTTP/1.1\r\nHost: a\r\n", byte, "Y: v\r\n\r\n", { $0.fields[1][0] }).hasPrefix(expected), "\(byte)")
    }
}

@Test func `every byte in a field value`() {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: "\r"): "badLineEnd 1"
            case UInt8(ascii: "\n"): "badLineEnd 0"
            default: value.contains(byte) ? shown("a", byte, "c") : "badFieldValue 0"
            }
        #expect(result("GET / HTTP/1.1\r\nHost: a\r\nX: a", byte, "c\r\n\r\n", { $0.fields[1][1] }) == expected, "\(byte)")
    }
}

@Test func `every byte in Host`() {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: "\r"): "badLineEnd 1"
            case UInt8(ascii: "\n"): "badLineEnd 0"
            default: hostName.contains(byte) ? shown("a", byte, "g") : value.contains(byte) ? "badHost -1" : "badFieldValue 0"
            }
        #expect(result("GET / HTTP/1.1\r\nHost: a", byte, "g\r\n\r\n", \.authority) == expected, "\(byte)")
    }
}

@Test func `every byte in Content-Length`() {
    for byte in UInt8.min...UInt8.max {
        let expected =
            switch byte {
            case UInt8(ascii: "\r"): "badLineEnd 1"
            case UInt8(ascii: "\n"): "badLineEnd 0"
            case UInt8(ascii: "0"): "\"o\""
            default: digits.contains(byte) ? "waiting" : value.contains(byte) ? "badLength 0" : "badFieldValue 0"
            }
        #expect(result("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0", byte, "1\r\n\r\no", \.body) == expected, "\(byte)")
    }
}

private let chunkedHead = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

@Test func `every byte as a chunk size`() {
    let sizes = Dictionary(uniqueKeysWithValues: zip("0123456789abcdefABCDEF".utf8, Array(0...15) + Array(10...15)))
    for byte in UInt8.min...UInt8.max {
        let size = sizes[byte] ?? 1
        let data = String(repeating: "x", count: size)
        let after = size == 0 ? "\r\n\r\n" : "\r\n\(data)\r\n0\r\n\r\n"
        let found = result(chunkedHead, byte, after, \.body)
        #expect(sizes[byte] == nil ? found.hasPrefix("badChunk") : found == data.debugDescription, "\(byte): \(found)")
    }
}

@Test func `every byte behind a chunk size`() {
    let hex = digits.union("abcdefABCDEF".utf8)
    for byte in UInt8.min...UInt8.max {
        // More digits make the chunk longer than what follows.
        let found = result(chunkedHead + "1", byte, "\r\nx\r\n0\r\n\r\n", \.body)
        #expect(hex.contains(byte) ? found == "waiting" : found.hasPrefix("badChunk"), "\(byte): \(found)")
    }
}

@Test func `every byte in a chunk extension`() {
    let rest = "\r\nx\r\n0\r\n\r\n"
    for byte in UInt8.min...UInt8.max {
        let name = result(chunkedHead + "1;a", byte, "c" + rest, \.body)
        #expect(token.contains(byte) || ";=".utf8.contains(byte) ? name == "\"x\"" : name.hasPrefix("badChunk"), "name \(byte): \(name)")
        let unquoted = result(chunkedHead + "1;a=b", byte, "c" + rest, \.body)
        #expect(token.contains(byte) || byte == UInt8(ascii: ";") ? unquoted == "\"x\"" : unquoted.hasPrefix("badChunk"), "value \(byte)")
        let quoted = result(chunkedHead + "1;a=\"b", byte, "c\"" + rest, \.body)
        #expect(value.contains(byte) && byte != UInt8(ascii: "\"") ? quoted == "\"x\"" : quoted.hasPrefix("badChunk"), "quoted \(byte)")
        let escaped = result(chunkedHead + "1;a=\"b\\", byte, "c\"" + rest, \.body)
        #expect(value.contains(byte) ? escaped == "\"x\"" : escaped.hasPrefix("badChunk"), "escaped \(byte)")
    }
}

@Test func `every byte where chunk data ends`() {
    for byte in UInt8.min...UInt8.max {
        let first = result(chunkedHead + "1\r\nx", byte, "\n0\r\n\r\n", \.body)
        #expect(byte == 0x0D ? first == "\"x\"" : first == "badChunk 0", "\(byte)")
        let second = result(chunkedHead + "1\r\nx\r", byte, "0\r\n\r\n", \.body)
        #expect(byte == 0x0A ? second == "\"x\"" : second == "badChunk 0", "\(byte)")
    }
}

@Test func `every byte in a trailer`() {
    for byte in UInt8.min...UInt8.max {
        let name = result(chunkedHead + "0\r\nX", byte, "Y: v\r\n\r\n", \.body)
        #expect(token.contains(byte) || byte == UInt8(ascii: ":") ? name == "\"\"" : name.hasPrefix("badTrailer"), "name \(byte)")
        let content = result(chunkedHead + "0\r\nX: a", byte, "c\r\n\r\n", \.body)
        #expect(value.contains(byte) ? content == "\"\"" : content.hasPrefix("badTrailer"), "value \(byte)")
    }
}
