// SPDX-License-Identifier: MIT
//
// Pages of users, conversations and members. A cursor is opaque and must be escaped in a query, as Vonage's must: it begins with `+/`, so that
// a client that forgets to is found out.

import HTTPWire
import JSON
import VonageAuth

/// What a list is asked for.
struct PageRequest {
    var size = 10
    var isDescending = false
    var start: Int64?
    var name: String?
    var since: Int64?
    var until: Int64?

    init(_ request: SimulatedRequest) throws(APIProblem) {
        var faults: [InvalidParameter] = []
        if let text = request.parameter("page_size") {
            if let size = Int(text), (1...100).contains(size) {
                self.size = size
            } else {
                faults.append(InvalidParameter(name: "page_size", reason: "must be a whole number from 1 to 100"))
            }
        }
        if let text = request.parameter("order") {
            switch text.lowercased() {
            case "asc": isDescending = false
            case "desc": isDescending = true
            default: faults.append(InvalidParameter(name: "order", reason: "must be asc or desc"))
            }
        }
        if let text = request.parameter("cursor") {
            start = Self.read(cursor: text)
            if start == nil { faults.append(InvalidParameter(name: "cursor", reason: "is not a cursor of this list")) }
        }
        name = request.parameter("name")
        if name?.isEmpty == true { faults.append(InvalidParameter(name: "name", reason: "must not be empty")) }
        for (parameter, path) in [("date_start", \PageRequest.since), ("date_end", \PageRequest.until)] {
            guard let text = request.parameter(parameter) else { continue }
            self[keyPath: path] = readTime(text)
            if self[keyPath: path] == nil { faults.append(InvalidParameter(name: parameter, reason: "must be a date of ISO 8601")) }
        }
        guard faults.isEmpty else { throw .invalid(faults) }
    }

    func includes(_ time: Int64) -> Bool { since.map { time >= $0 } ?? true && until.map { time <= $0 } ?? true }

    private static let mark: [UInt8] = [0xFB, 0xFF]

    static func cursor(_ serial: Int64) -> String {
        var text: [UInt8] = []
        text.appendBase64URL((mark + Array(String(serial).utf8)).span)
        return plainBase64(fromURL: String(decoding: text, as: UTF8.self))
    }

    private static func read(cursor: String) -> Int64? {
        let digits = cursor.utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        var bytes: [UInt8] = []
        guard digits.count <= 64, !cursor.contains("-"), bytes.appendDecodedBase64URL(0..<digits.count, in: digits.span),
            bytes.starts(with: mark), let serial = Int64(String(decoding: bytes.dropFirst(mark.count), as: UTF8.self)), serial > 0
        else { return nil }
        return serial
    }

    /// A page with its links; no link `next` on the last one.
    ///
    /// - Parameters:
    ///   - url: of the list, without a query.
    ///   - isNested: whether the array stands one level deeper, under `data`, as in version 0.2.
    func page(_ name: String, _ elements: [JSONNode], url: String, first: Int64?, next: Int64?, isNested: Bool) -> JSONNode {
        func link(_ cursor: Int64?) -> JSONNode {
            var query = "page_size=\(size)"
            if isDescending { query += "&order=desc" }
            if let name = self.name { query += "&name=\(percentEncoded(name))" }
            if let since { query += "&date_start=\(percentEncoded(isoTime(since)))" }
            if let until { query += "&date_end=\(percentEncoded(isoTime(until)))" }
            if let cursor { query += "&cursor=\(percentEncoded(Self.cursor(cursor)))" }
            return .object(["href": .text("\(url)?\(query)")])
        }
        let list = JSONNode.object([name: .list(elements)])
        return .object([
            "page_size": .number(size), "_embedded": isNested ? .object(["data": list]) : list,
            "_links": .object(["first": link(nil), "self": link(start ?? first), "next": next.map { link($0) }]),
        ])
    }
}
