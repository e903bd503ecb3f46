// SPDX-License-Identifier: MIT
//
// A second opinion: RFC 8259 as a recursive recogniser over arrays, written for plainness, sharing nothing with the reader. Bad UTF-8 is left
// to the standard library: it may only stand in strings, so the whole text can be asked at once.

struct ReferenceGrammar {
    private var rest: ArraySlice<UInt8>

    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var grammar = ReferenceGrammar(rest: bytes[...])
        return grammar.value() && grammar.rest.isEmpty
    }

    private mutating func take(_ allowed: String) -> Bool {
        guard let first = rest.first, allowed.utf8.contains(first) else { return false }
        rest.removeFirst()
        return true
    }
    private mutating func word(_ word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest.removeFirst(word.utf8.count)
        return true
    }
    private mutating func space() { while take(" \t\r\n") {} }

    private mutating func value() -> Bool {
        space()
        defer { space() }
        return switch rest.first {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "["): list("[", "]") { $0.value() }
        case UInt8(ascii: "{"): list("{", "}") { $0.member() }
        default: word("true") || word("false") || word("null") || number()
        }
    }
    private mutating func list(_ open: String, _ close: String, _ element: (inout Self) -> Bool) -> Bool {
        guard take(open) else { return false }
        space()
        if take(close) { return true }
        repeat { guard element(&self) else { return false } } while take(",")
        return take(close)
    }
    private mutating func member() -> Bool {
        space()
        guard string() else { return false }
        space()
        return take(":") && value()
    }
    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = rest.first, byte >= 0x20 {
            if take("\"") { return true }
            if take("\\") {
                if take("u") {
                    for _ in 0..<4 { guard take("0123456789abcdefABCDEF") else { return false } }
                } else if !take("\"\\/bfnrt") {
                    return false
                }
            } else {
                rest.removeFirst()
            }
        }
        return false
    }
    private mutating func digits() -> Bool {
        guard take("0123456789") else { return false }
        while take("0123456789") {}
        return true
    }
    private mutating func number() -> Bool {
        _ = take("-")
        guard take("0") || digits() else { return false }
        if take("."), !digits() { return false }
        if take("eE") {
            _ = take("+-")
            return digits()
        }
        return true
    }
}
