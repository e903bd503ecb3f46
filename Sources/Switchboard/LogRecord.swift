// SPDX-License-Identifier: MIT
//
// The members of a log line between `at` and `crc`: the head is the same for all kinds, the tail is what this kind adds.

import HTTPWire
import JSON

/// Head and tail of one record while it is made. The buffers are a handler's, lent for the time: see `RequestHandler.takeRecord`.
struct RecordBuffers {
    var head: [UInt8] = []
    var tail: [UInt8] = []
}

enum RecordKind: String, Sendable {
    case answer, event, fallback, malformed

    /// How the head of a record begins, up to the value of `call`.
    var opening: StaticString {
        switch self {
        case .answer: #""kind":"answer","call":"#
        case .event: #""kind":"event","call":"#
        case .fallback: #""kind":"fallback","call":"#
        case .malformed: #""kind":"malformed","call":"#
        }
    }
}

extension [UInt8] {
    /// Bytes that could not be read: as text where they are UTF-8, else in base64.
    mutating func appendRaw(_ bytes: Span<UInt8>) {
        if isValidUTF8(bytes) {
            append(#","raw":"#)
            appendJSONString(bytes)
        } else {
            append(#","raw_base64":""#)
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
