// SPDX-License-Identifier: MIT
//
// Builds the tree while the grammar walks the text.

/// Reads a text into a tree.
///
/// - Throws: exactly where `minifyJSON` does.
/// - Parameter maximumDepth: arrays and objects that may be open at once. Giving a tree back to memory recurses, about 100 bytes of stack a
///   level: keep this in the hundreds.
package func parseJSON(_ text: Span<UInt8>, maximumDepth: Int = defaultMaximumDepth) throws(JSONError) -> JSONNode {
    var builder = TreeBuilder()
    do {
        _ = try walkJSON(text, maximumDepth: maximumDepth, &builder)
        return builder.root
    } catch {
        throw JSONError(error, in: text, maximumDepth: maximumDepth)
    }
}

private struct TreeBuilder: JSONVisitor {
    /// An array or object whose end is not reached yet.
    private struct Open {
        let kind: JSONKind
        let start: Int
        var elements: [JSONNode] = []
        var members: [JSONNode.Member] = []
        /// The key whose value comes next.
        var name = JSONString(literal: "")
        var nameRange = 0..<0
    }

    private(set) var root = JSONNode(.null, at: 0..<0)
    private var open: [Open] = []

    mutating func whiteSpace(_ range: Range<Int>, in text: Span<UInt8>) {}

    mutating func begin(_ kind: JSONKind, at offset: Int) { open.append(Open(kind: kind, start: offset)) }

    mutating func name(_ range: Range<Int>, in text: Span<UInt8>) {
        open[open.count - 1].name = JSONString(literal: copy(range, of: text))
        open[open.count - 1].nameRange = range
    }

    mutating func scalar(_ kind: JSONKind, _ range: Range<Int>, in text: Span<UInt8>) {
        let value: JSONNode.Value =
            switch kind {
            case .string: .string(JSONString(literal: copy(range.lowerBound + 1..<range.upperBound - 1, of: text)))
            case .number: .number(copy(range, of: text))
            case .bool: .bool(text[range.lowerBound] == UInt8(ascii: "t"))
            case .null, .object, .array: .null
            }
        add(JSONNode(value, at: range))
    }

    mutating func end(_ kind: JSONKind, at offset: Int, in text: Span<UInt8>) {
        let closed = open.removeLast()
        add(JSONNode(kind == .object ? .object(closed.members) : .array(closed.elements), at: closed.start..<offset))
    }

    private mutating func add(_ node: JSONNode) {
        guard let last = open.indices.last else {
            root = node
            return
        }
        switch open[last].kind {
        case .object: open[last].members.append(JSONNode.Member(name: open[last].name, nameRange: open[last].nameRange, node: node))
        default: open[last].elements.append(node)
        }
    }

    private func copy(_ range: Range<Int>, of text: Span<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.append(range, of: text)
        return String(decoding: bytes, as: UTF8.self)
    }
}
