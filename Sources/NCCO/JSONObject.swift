// SPDX-License-Identifier: MIT
//
// A JSON object that keeps its order, so that what is read is written again byte for byte. Names are looked for one after another: such
// objects are small.

internal import JSON

/// A JSON object: members in order, each name once.
///
/// - Source: RFC 8259 section 4.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A name with its value.
    public struct Member: Hashable, Sendable {
        /// The name, unescaped.
        public let name: String
        /// What it stands for.
        public fileprivate(set) var value: JSONValue
    }

    /// The members, in the order in which they are written.
    public private(set) var members: [Member]

    /// An object of these members; of those with equal names the last value counts, at the place of the first.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        self.members = []
        for (name, value) in members { self[name] = value }
    }

    /// Lets an object be written in place; of members with equal names the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    /// The caller has seen to it that no name comes twice.
    init(unique members: [Member]) { self.members = members }

    /// With those members of another object behind it whose names it does not have.
    func adding(_ other: JSONObject) -> JSONObject {
        JSONObject(unique: members + other.members.filter { index(of: $0.name) == nil })
    }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }

    /// The value of that name; nil where there is none. A new name is put last, and setting nil takes the member out.
    public subscript(name: String) -> JSONValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Names are equal where their scalars are, as for every reader of JSON.
    private func index(of name: String) -> Int? { members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    package func encode(into output: inout [UInt8]) {
        output.beginObject()
        appendMembers(to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the members behind others of the same object.
    func appendMembers(to output: inout [UInt8]) {
        for member in members {
            if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
            output.appendJSONString(member.name)
            output.append(UInt8(ascii: ":"))
            member.value.encode(into: &output)
        }
    }
}
