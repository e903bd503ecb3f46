// SPDX-License-Identifier: MIT
//
// Where a value stands. A tree can be so deep and so wide that the places of all its values would fill the memory, so what looks at every value
// walks with `TreeWalk`, which spells a place out only when there is something to say about it.

internal import JSON

/// Where a value stands, as `$[1].endpoint[0].number`; what is very deep ends in `…`.
package struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// Longest path that still grows, in bytes.
    private static let longest = 500

    package private(set) var description = "$"

    package init() {}

    package func appending(_ index: Int) -> JSONPath { appending(part: "[\(index)]") }

    /// A key that is no plain name stands in brackets.
    package func appending(_ key: String) -> JSONPath {
        let isPlain =
            !key.isEmpty && key.utf8.count <= 64
            && key.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0))
            }
        return appending(part: isPlain ? ".\(key)" : "[\(printable(key))]")
    }

    private func appending(part: String) -> JSONPath {
        var path = self
        if description.utf8.count <= Self.longest {
            path.description += part
        } else if !description.hasSuffix("…") {
            path.description += "…"
        }
        return path
    }
}

/// Every value of a tree in the order of the text, an object or array before what is in it.
struct TreeWalk {
    /// What the values that are now looked at stand in, each with the number of its parts that have been given out.
    private var open: [(node: JSONNode, given: Int)] = []
    private var last: JSONNode?
    private var root: JSONNode?

    init(_ root: JSONNode) { self.root = root }

    mutating func next() -> JSONNode? {
        if let root {
            (last, self.root) = (root, nil)
            return root
        }
        if let last, last.kind == .object || last.kind == .array { open.append((last, 0)) }
        last = nil
        while let (node, given) = open.last {
            let part: JSONNode? =
                switch node.value {
                case .object(let members) where given < members.count: members[given].node
                case .array(let elements) where given < elements.count: elements[given]
                default: nil
                }
            if let part {
                open[open.count - 1].given += 1
                last = part
                return part
            }
            open.removeLast()
        }
        return nil
    }

    /// The place of the value that `next` gave last.
    func path(from root: JSONPath) -> JSONPath {
        var path = root
        for (node, given) in open {
            path =
                if case .object(let members) = node.value { path.appending(members[given - 1].name.value) } else {
                    path.appending(given - 1)
                }
        }
        return path
    }
}
