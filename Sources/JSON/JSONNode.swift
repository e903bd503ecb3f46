// SPDX-License-Identifier: MIT
//
// A text as a tree, for tools that must say where something stands: each node knows its place, objects keep order and duplicates, numbers and
// escapes keep their text. Neither reading nor writing recurses. What answers calls has no need of a tree: see `JSONMembers`.

/// One value and where it stands.
package struct JSONNode: Sendable {
    /// What the node is, with its parts.
    package enum Value: Sendable {
        /// In the order of the text, duplicates included.
        case object([Member])
        case array([JSONNode])
        case string(JSONString)
        /// The number as it was written.
        case number(String)
        case bool(Bool)
        case null
    }

    /// A key with its value.
    package struct Member: Sendable {
        package var name: JSONString
        /// The key's bytes in the text it was read from, inside the quotes.
        package var nameRange: Range<Int>
        package var node: JSONNode

        init(name: JSONString, nameRange: Range<Int>, node: JSONNode) { (self.name, self.nameRange, self.node) = (name, nameRange, node) }

        /// A member that was not read but made.
        package init(_ name: String, _ node: JSONNode) { self.init(name: JSONString(name), nameRange: 0..<0, node: node) }
    }

    package var value: Value
    /// The node's bytes in the text it was read from, a string with its quotes.
    package var range: Range<Int>

    /// For a node that was made and not read, any range will do.
    package init(_ value: Value, at range: Range<Int>) {
        self.value = value
        self.range = range
    }

    /// What the node is, without its parts.
    package var kind: JSONKind {
        switch value {
        case .object: .object
        case .array: .array
        case .string: .string
        case .number: .number
        case .bool: .bool
        case .null: .null
        }
    }

    /// Appends the tree without white space; of a tree just read, exactly what `minifyJSON` makes of its text.
    package func encode(into output: inout [UInt8]) {
        enum Step {
            case node(JSONNode)
            case name(JSONString)
            case mark(UInt8)
        }
        // What is left to write, the next step last.
        var steps = [Step.node(self)]
        func push(_ close: Character, _ parts: [[Step]]) {
            steps.append(.mark(close.asciiValue ?? 0))
            for (index, part) in parts.enumerated().reversed() {
                steps += part.reversed()
                if index > 0 { steps.append(.mark(UInt8(ascii: ","))) }
            }
        }
        while let step = steps.popLast() {
            switch step {
            case .mark(let byte): output.append(byte)
            case .name(let name):
                name.encode(into: &output)
                output.append(UInt8(ascii: ":"))
            case .node(let node):
                switch node.value {
                case .object(let members):
                    output.append(UInt8(ascii: "{"))
                    push("}", members.map { [.name($0.name), .node($0.node)] })
                case .array(let elements):
                    output.append(UInt8(ascii: "["))
                    push("]", elements.map { [.node($0)] })
                case .string(let string): string.encode(into: &output)
                case .number(let text): output += text.utf8
                case .bool(let bool): output += (bool ? "true" : "false").utf8
                case .null: output += "null".utf8
                }
            }
        }
    }
}

/// A string that remembers how it was escaped.
package struct JSONString: Sendable {
    /// Inside the quotes, still escaped.
    package let literal: String

    /// The text that the literal stands for.
    package var value: String {
        let bytes = Array(literal.utf8)
        var plain: [UInt8] = []
        decodeJSONString(0..<bytes.count, in: bytes.span, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// A string that was not read but made.
    package init(_ value: String) {
        var quoted: [UInt8] = []
        quoted.appendJSONString(value)
        literal = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    }

    init(literal: String) { self.literal = literal }

    package func encode(into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        output += literal.utf8
        output.append(UInt8(ascii: "\""))
    }
}
