// SPDX-License-Identifier: MIT
//
// `{{path}}` and `{{path|text}}` inside the strings of a template. The syntax stands here because lint reads templates too; what a path means is
// for whoever fills it.

/// A piece of a template's string.
package enum TemplatePart: Hashable, Sendable {
    case literal(String)
    /// What stands between the braces: names behind one another, and what is taken where there is no value.
    case placeholder(path: String, standard: String?)
}

/// A string that is no template.
package struct PlaceholderFault: Error, Hashable {
    package let message: String
    package let cure: String
}

/// Cuts a string at its placeholders.
///
/// Blanks around path and text are not part of them. A string without placeholders is one literal, an empty one has no part.
///
/// - Throws: for `{{` without `}}` behind it, and for a path that is empty, holds a brace, or has an empty name between its dots.
package func templateParts(_ text: String) throws(PlaceholderFault) -> [TemplatePart] {
    var parts: [TemplatePart] = []
    var rest = Substring(text)
    while let open = rest.firstRange(of: "{{") {
        if open.lowerBound > rest.startIndex { parts.append(.literal(String(rest[..<open.lowerBound]))) }
        rest = rest[open.upperBound...]
        guard let close = rest.firstRange(of: "}}") else {
            throw PlaceholderFault(message: "{{ has no }} behind it", cure: "close the placeholder, as in {{to}}")
        }
        let inside = rest[..<close.lowerBound].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        rest = rest[close.upperBound...]
        let path = trimmed(inside.first ?? "")
        guard !path.isEmpty, !path.contains("{"), !path.contains("}"), !path.contains(where: \.isWhitespace),
            path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
        else {
            throw PlaceholderFault(
                message: "\(printable(path)) is no name of a value",
                cure: "write a name such as {{to}}, {{custom_data.tier}} or {{to|nobody}}")
        }
        parts.append(.placeholder(path: path, standard: inside.count > 1 ? trimmed(inside[1]) : nil))
    }
    if !rest.isEmpty { parts.append(.literal(String(rest))) }
    return parts
}

private func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
}
