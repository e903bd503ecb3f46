// SPDX-License-Identifier: MIT
//
// What a token opens: the claim `acl`. Its nesting is where hand-made tokens go wrong most often, so it is checked in one place, for tokens
// that are made here and for those that are looked at.

internal import JSON
internal import NCCO

/// The claim `acl`: paths of Vonage's API, each with the methods and filters that are allowed, in order.
///
/// ```swift
/// try AccessList(paths: ["/*/sessions/**", "/*/legs/**"])
/// try AccessList(json: #"{"paths":{"/*/legs/**":{"methods":["GET"]}}}"#)
/// ```
///
/// - Source: Vonage, "JWT and ACL"; the checks are those of the Vonage CLI, which lets no other key stand beside `paths`.
public struct AccessList: Hashable, Sendable {
    /// The claim's JSON without white space.
    public let json: String
    /// The paths in order, such as `/*/sessions/**`.
    public let paths: [String]

    /// What each path of a Client SDK's user opens, in words; `/*/` and `/**` stand around the name.
    static let areas: [(name: String, words: String)] = [
        ("users", "users"), ("conversations", "rooms and messages"), ("sessions", "log in"), ("devices", "register a device for push"),
        ("image", "pictures"), ("media", "audio"), ("applications", "upload the push certificate"), ("push", "receive push"),
        ("knocking", "start calls"), ("legs", "call legs"), ("rtc", "call media"),
    ]

    /// All that an app user of the Client SDK needs: the union of what Vonage's guides and tools list, 11 paths.
    public static let user = AccessList(known: areas.map { "/*/\($0.name)/**" })
    /// What a client of a video session needs: `/session/**`.
    public static let video = AccessList(known: ["/session/**"])

    /// Most paths of one list; each makes every request's header longer.
    public static let mostPaths = 100
    private static let methods = ["GET", "POST", "PUT", "DELETE", "PATCH"]
    private static let largest = 8 * 1024

    private init(known paths: [String]) {
        self.paths = paths
        json = Self.json(paths)
    }

    /// Paths that are open to all methods.
    ///
    /// - Parameter paths: 1...100, each 1...256 printable ASCII characters that begin with `/` and have no blanks, none twice.
    /// - Throws: `TokenError` with the rule.
    public init(paths: [String]) throws(TokenError) { try self.init(json: Self.json(paths)) }

    /// The claim as JSON: `{"paths":{PATH:{"methods":[…],"filters":{…}}}}`, where both members may be left out.
    ///
    /// - Parameter json: at most 8 KiB.
    /// - Throws: `TokenError` with the place and the rule.
    public init(json text: String) throws(TokenError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.largest else { throw TokenError("the access list has \(bytes.count) bytes; it may have \(Self.largest)") }
        let node: JSONNode
        do throws(JSONError) { node = try parseJSON(bytes.span, maximumDepth: 16) } catch {
            throw TokenError("the access list is no JSON: \(error); write {\"paths\":{\"/*/sessions/**\":{}}}")
        }
        if let fault = Self.faults(node).first { throw TokenError(fault) }
        var output: [UInt8] = []
        node.encode(into: &output)
        json = String(decoding: output, as: UTF8.self)
        paths = Self.paths(node)
    }

    /// The paths of a claim, as far as it has any.
    static func paths(_ node: JSONNode) -> [String] {
        guard case .object(let members) = node.value,
            case .object(let paths)? = members.first(where: { $0.name.value == "paths" })?.node.value
        else { return [] }
        return paths.map(\.name.value)
    }

    private static func json(_ paths: [String]) -> String {
        var output = Array("{\"paths\":{".utf8)
        for (index, path) in paths.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output.appendJSONString(path)
            output += ":{}".utf8
        }
        output += "}}".utf8
        return String(decoding: output, as: UTF8.self)
    }

    /// What is wrong with a claim, in words; at most a handful.
    static func faults(_ node: JSONNode) -> [String] {
        guard case .object(let members) = node.value else { return ["acl is no object; write {\"paths\":{\"/*/sessions/**\":{}}}"] }
        let names = members.map(\.name.value)
        guard let paths = members.first(where: { $0.name.value == "paths" })?.node else {
            return names.contains { $0.hasPrefix("/") }
                ? ["the paths stand in acl itself; Vonage looks for them one level down, in acl.paths"]
                : ["acl has no member paths; write {\"paths\":{\"/*/sessions/**\":{}}}"]
        }
        var faults: [String] = []
        if let other = names.first(where: { $0 != "paths" }) {
            faults.append("acl has \(printable(other)) beside paths; paths must be its only member")
        } else if names.count > 1 {
            faults.append("acl has paths twice")
        }
        guard case .object(let entries) = paths.value else { return faults + ["acl.paths is no object; write {\"/*/sessions/**\":{}}"] }
        if entries.isEmpty { faults.append("acl.paths is empty, so nothing is open") }
        if entries.count > mostPaths { faults.append("acl.paths has \(entries.count) paths; it may have \(mostPaths)") }
        var seen: Set<String> = []
        for entry in entries.prefix(mostPaths) where faults.count < 8 {
            let path = entry.name.value
            if !seen.insert(path).inserted { faults.append("the path \(printable(path)) is there twice") }
            if let fault = fault(of: path) { faults.append(fault) }
            faults += Self.faults(of: entry.node, path)
        }
        return faults
    }

    private static func fault(of path: String) -> String? {
        guard path.hasPrefix("/") else { return "the path \(printable(path)) does not begin with /; write one like /*/sessions/**" }
        guard path.utf8.count <= 256, path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "the path \(printable(path)) has blanks or other characters than printable ASCII, or more than 256"
        }
        return nil
    }

    private static func faults(of rights: JSONNode, _ path: String) -> [String] {
        guard case .object(let members) = rights.value else {
            return ["what belongs to the path \(printable(path)) is no object; write {}"]
        }
        var faults: [String] = []
        for member in members where faults.count < 4 {
            switch (member.name.value, member.node.value) {
            case ("methods", .array(let elements)):
                for element in elements.prefix(16) {
                    guard case .string(let method) = element.value, methods.contains(method.value) else {
                        faults.append(
                            "methods of the path \(printable(path)) may be \(methods.joined(separator: ", ")) in capitals, and nothing else"
                        )
                        break
                    }
                }
                if elements.count > 16 { faults.append("methods of the path \(printable(path)) has more than 16 entries") }
            case ("methods", _): faults.append("methods of the path \(printable(path)) is no list; write [\"GET\"]")
            case ("filters", .object): break
            case ("filters", _): faults.append("filters of the path \(printable(path)) is no object")
            case (let name, _): faults.append("the path \(printable(path)) has \(printable(name)); it may have methods and filters")
            }
        }
        if Set(members.map(\.name.value)).count < members.count { faults.append("a member of the path \(printable(path)) is there twice") }
        return faults
    }
}
