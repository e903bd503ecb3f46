// SPDX-License-Identifier: MIT
//
// Values in the queries of URLs, RFC 3986 §2: escaped but for the unreserved characters. Read back, a `+` stays one: cursors are full of them.

import HTTPWire

/// All but letters, digits and `-._~` escaped.
func percentEscaped(_ text: String) -> String {
    var escaped: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            escaped.append(byte)
        default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
        }
    }
    return String(decoding: escaped, as: UTF8.self)
}

/// Escapes decoded once; a broken one stays as it is.
func percentUnescaped(_ text: some StringProtocol) -> String {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    var at = 0
    while at < bytes.count {
        if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = bytes[at + 1].hexValue, let low = bytes[at + 2].hexValue {
            plain.append(high << 4 | low)
            at += 3
        } else {
            plain.append(bytes[at])
            at += 1
        }
    }
    return String(decoding: plain, as: UTF8.self)
}

/// The value of `cursor` in the query of a link to the next page; nil where there is none.
func cursor(inLink link: String) -> String? {
    guard let mark = link.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    let query = link[link.index(after: mark)...].prefix { $0 != "#" }
    for pair in query.split(separator: "&") where pair.hasPrefix("cursor=") {
        let value = percentUnescaped(pair.dropFirst("cursor=".count))
        return value.isEmpty ? nil : value
    }
    return nil
}
