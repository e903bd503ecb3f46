// SPDX-License-Identifier: MIT
//
// Takes the members out of a JSON body and notes each that is not as it must be, so that an answer names all of them at once. What nobody
// asked for is refused in the end, as Vonage does it.

import HTTPWire
import JSON

/// One object, with its faults so far.
struct BodyReader {
    /// Most faults that an answer names.
    private static let mostFaults = 20

    let members: [JSONNode.Member]
    /// What stands in front of a member's name in a fault.
    private let prefix: String
    private var asked: Set<String> = []
    private(set) var faults: [InvalidParameter] = []

    /// The object in a request's body; an empty body is an empty object.
    init(_ request: SimulatedRequest) throws(APIProblem) {
        prefix = ""
        guard !request.body.isEmpty else {
            members = []
            return
        }
        if let type = request.mediaType, type != "application/json", !type.hasSuffix("+json") {
            throw APIProblem(.unsupportedMediaType, "http:error:unsupported-media-type", "The body must be application/json.")
        }
        var copy: [UInt8] = []
        let root: JSONNode
        let duplicate: Int?
        do throws(JSONError) {
            duplicate = try minifyJSON(request.body.span, into: &copy, maximumDepth: 64).duplicateKey
            root = try parseJSON(request.body.span, maximumDepth: 64)
        } catch { throw .invalid("body", "is not JSON: \(error)") }
        guard duplicate == nil else { throw .invalid("body", "has a key twice") }
        guard let members = root.members else { throw .invalid("body", "must be an object") }
        self.members = members
    }

    private init(_ members: [JSONNode.Member], prefix: String) { (self.members, self.prefix) = (members, prefix) }

    mutating func fault(_ name: String, _ reason: String) {
        guard faults.count < Self.mostFaults else { return }
        faults.append(InvalidParameter(name: prefix + name, reason: reason))
    }

    /// Throws what was found, and whatever member nobody asked for.
    mutating func finish() throws(APIProblem) {
        noteUnknown()
        guard faults.isEmpty else { throw .invalid(faults) }
    }

    private mutating func noteUnknown() {
        for member in members where !asked.contains(member.name.value) {
            fault(String(member.name.value.unicodeScalars.prefix(64)), "is not allowed")
        }
    }

    mutating func node(_ name: String) -> JSONNode? {
        asked.insert(name)
        return members.first { $0.name.value == name }?.node
    }

    /// A member that is taken and not looked at.
    mutating func ignore(_ names: String...) { asked.formUnion(names) }

    mutating func ignoreAll() { asked.formUnion(members.map(\.name.value)) }

    /// A text with so many characters, counted in UTF-16 units.
    mutating func text(_ name: String, _ lengths: ClosedRange<Int> = 1...2048) -> String? {
        guard let node = node(name) else { return nil }
        guard let text = node.string else {
            fault(name, "must be a string")
            return nil
        }
        guard lengths.contains(text.utf16.count) else {
            fault(name, text.isEmpty ? "must not be empty" : "must have \(lengths.lowerBound) to \(lengths.upperBound) characters")
            return nil
        }
        return text
    }

    mutating func choice(_ name: String, _ values: [String]) -> String? {
        guard let text = text(name) else { return nil }
        guard let value = values.first(where: { $0.lowercased() == text.lowercased() }) else {
            fault(name, "must be one of \(values.joined(separator: ", "))")
            return nil
        }
        return value
    }

    mutating func whole(_ name: String, _ range: ClosedRange<Int64>) -> Int64? {
        guard let node = node(name) else { return nil }
        guard let number = node.whole, range.contains(number) else {
            let limit = range.upperBound == .max ? "from \(range.lowerBound) on" : "from \(range.lowerBound) to \(range.upperBound)"
            fault(name, "must be a whole number \(limit)")
            return nil
        }
        return number
    }

    mutating func flag(_ name: String) -> Bool? {
        guard let node = node(name) else { return nil }
        if node.flag == nil { fault(name, "must be true or false") }
        return node.flag
    }

    mutating func object(_ name: String) -> JSONNode? {
        guard let node = node(name) else { return nil }
        guard node.members != nil else {
            fault(name, "must be an object")
            return nil
        }
        return node
    }

    /// Reads an object inside this one.
    mutating func object<Result>(_ name: String, _ read: (inout BodyReader) -> Result) -> Result? {
        guard let node = object(name) else { return nil }
        return inside(node, "\(name).", read)
    }

    /// Reads a list of objects.
    mutating func objects<Result>(_ name: String, _ counts: ClosedRange<Int>, _ read: (inout BodyReader) -> Result) -> [Result]? {
        guard let node = node(name) else { return nil }
        guard let elements = node.elements, counts.contains(elements.count) else {
            fault(
                name, "must be an array of \(counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)")")
            return nil
        }
        var results: [Result] = []
        for (index, element) in elements.enumerated() {
            guard element.members != nil else {
                fault("\(name)[\(index)]", "must be an object")
                continue
            }
            results.append(inside(element, "\(name)[\(index)].", read))
        }
        return results
    }

    private mutating func inside<Result>(_ node: JSONNode, _ name: String, _ read: (inout BodyReader) -> Result) -> Result {
        var inner = BodyReader(node.members ?? [], prefix: prefix + name)
        let result = read(&inner)
        inner.noteUnknown()
        faults += inner.faults.prefix(max(Self.mostFaults - faults.count, 0))
        return result
    }

    /// An absolute URI of RFC 3986, as far as a look at its characters tells.
    mutating func uri(_ name: String, schemes: [String]? = nil) -> String? {
        guard let text = text(name) else { return nil }
        guard isURI(text, schemes: schemes) else {
            fault(name, "must be a valid uri")
            return nil
        }
        return text
    }

    /// A list of one or more URLs that Vonage can ask.
    mutating func urls(_ name: String) -> [String]? {
        guard let node = node(name) else { return nil }
        guard let elements = node.elements, (1...10).contains(elements.count) else {
            fault(name, "Invalid type parameter provided")
            return nil
        }
        let urls = elements.compactMap(\.string).filter { isURI($0, schemes: ["http", "https"]) }
        guard urls.count == elements.count else {
            fault(name, "must be an array of valid URLs")
            return nil
        }
        return urls
    }
}

func isURI(_ text: String, schemes: [String]? = nil) -> Bool {
    guard let colon = text.firstIndex(of: ":"), text.utf8.count <= 2048 else { return false }
    let scheme = text[..<colon].lowercased()
    let rest = text[text.index(after: colon)...]
    guard let first = scheme.utf8.first, (0x61...0x7A).contains(first), !rest.isEmpty,
        scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }),
        text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"<>\"\\^`{|}".utf8.contains($0) })
    else { return false }
    guard let schemes else { return true }
    return schemes.contains(scheme) && rest.hasPrefix("//") && rest.utf8.count > 2 && !rest.hasPrefix("///")
}
