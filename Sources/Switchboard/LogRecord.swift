// SPDX-License-Identifier: MIT
//
// The members of a log line between `at` and `crc`: the head is the same for all kinds, the tail is what this kind adds.

import JSON

enum Literals {
    static let null = Array("null".utf8)
    static let call = Array("\",\"call\":".utf8)
    static let leg = Array(",\"leg\":".utf8)
    static let status = Array(",\"status\":".utf8)
    static let signatureOff = Array(",\"signature\":\"off\"".utf8)
    static let kind = Array("\"kind\":\"".utf8)
    static let event = Array(",\"event\":".utf8)
    static let request = Array(",\"request\":".utf8)
    static let flow = Array(",\"flow\":\"".utf8)
    static let ncco = Array("\",\"ncco\":".utf8)
    static let micros = Array(",\"micros\":".utf8)
    static let raw = Array(",\"raw\":".utf8)
    static let rawBase64 = Array(",\"raw_base64\":\"".utf8)
    static let error = Array(",\"error\":".utf8)
}

/// Head and tail of one record while it is made. The buffers are a handler's, lent for the time: see `RequestHandler.takeRecord`.
struct RecordBuffers {
    var head: [UInt8] = []
    var tail: [UInt8] = []
}

enum RecordKind: String, Sendable {
    case answer, event, fallback, malformed

    var bytes: [UInt8] {
        switch self {
        case .answer: Self.answerBytes
        case .event: Self.eventBytes
        case .fallback: Self.fallbackBytes
        case .malformed: Self.malformedBytes
        }
    }

    private static let answerBytes = Array("answer".utf8)
    private static let eventBytes = Array("event".utf8)
    private static let fallbackBytes = Array("fallback".utf8)
    private static let malformedBytes = Array("malformed".utf8)
}

extension [UInt8] {
    /// Bytes that could not be read: as text where they are UTF-8, else in base64.
    mutating func appendRaw(_ bytes: Span<UInt8>) {
        if isValidUTF8(bytes) {
            append(contentsOf: Literals.raw)
            appendJSONString(bytes)
        } else {
            append(contentsOf: Literals.rawBase64)
            appendBase64(bytes)
            append(UInt8(ascii: "\""))
        }
    }

    /// RFC 4648 §4.
    mutating func appendBase64(_ bytes: Span<UInt8>) {
        func digit(_ value: UInt32) -> UInt8 {
            switch value & 63 {
            case let value where value < 26: UInt8(ascii: "A") + UInt8(value)
            case let value where value < 52: UInt8(ascii: "a") + UInt8(value - 26)
            case let value where value < 62: UInt8(ascii: "0") + UInt8(value - 52)
            case 62: UInt8(ascii: "+")
            default: UInt8(ascii: "/")
            }
        }
        var at = 0
        while at < bytes.count {
            let left = Swift.min(bytes.count - at, 3)
            var group: UInt32 = 0
            for index in 0..<3 { group = group << 8 | (index < left ? UInt32(bytes[at + index]) : 0) }
            append(digit(group >> 18))
            append(digit(group >> 12))
            append(left > 1 ? digit(group >> 6) : UInt8(ascii: "="))
            append(left > 2 ? digit(group) : UInt8(ascii: "="))
            at += 3
        }
    }
}
