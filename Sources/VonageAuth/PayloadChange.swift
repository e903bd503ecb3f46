// SPDX-License-Identifier: MIT
//
// What proxies, tunnels and frameworks are known to do to a body or a query on its way: each change is undone, and the one whose result has the
// token's hash is named, so that whoever runs the proxy knows what to switch off. It costs a hash for each candidate: for a person who asks why,
// not for each request.

internal import HTTPWire
internal import JSON

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self.init()
        reserveCapacity(bytes.count)
        for index in bytes.indices { append(bytes[index]) }
    }
}

struct PayloadChange: Sendable {
    /// What was done, as a sentence's end: "it fits …".
    let words: String
    /// What it may have been before; `other` is the query of a POST, or the body of a GET.
    let originals: @Sendable (_ received: [UInt8], _ other: [UInt8]) -> [[UInt8]]

    static let ofBodies: [PayloadChange] = [
        PayloadChange(words: "without the white space at its end: something appended a line end") { received, _ in
            let trimmed = Array(received.reversed().drop { $0 <= 0x20 }.reversed())
            return trimmed.count < received.count ? [trimmed] : []
        },
        PayloadChange(words: "with a line end behind it: something took that away") { received, _ in
            [received + [0x0A], received + [0x0D, 0x0A]]
        },
        PayloadChange(words: "without the byte order mark in front of it") { received, _ in
            received.starts(with: [0xEF, 0xBB, 0xBF]) ? [Array(received.dropFirst(3))] : []
        },
        PayloadChange(words: "with LF in place of CRLF: something changed the line ends") { received, _ in
            [received.indices.filter { received[$0] != 0x0D }.map { received[$0] }]
        },
        PayloadChange(words: "without the white space between its parts: something printed the JSON anew") { received, _ in
            minified(received).map { [$0] } ?? []
        },
        PayloadChange(words: "with the blanks of Python's json.dumps: something printed the JSON anew") { received, _ in
            minified(received).map { [spaced($0)] } ?? []
        },
        PayloadChange(words: "with / for \\/: something that escapes slashes, such as PHP or Foundation, printed the JSON anew") {
            received, _ in
            minified(received).map { [replacing($0, "\\/", "/")] } ?? []
        },
        PayloadChange(words: "with \\/ for /: something took the escapes away") { received, _ in
            minified(received).map { [replacing($0, "/", "\\/")] } ?? []
        },
        PayloadChange(words: "with letters for \\u escapes: something printed the JSON anew in ASCII") { received, _ in
            minified(received).map { [withoutUnicodeEscapes($0)] } ?? []
        },
        PayloadChange(words: "with \\u escapes for all letters beyond ASCII: something decoded them") { received, _ in
            minified(received).map { [withUnicodeEscapes($0)] } ?? []
        },
        PayloadChange(words: "with UTF-8 decoded once more: something took it for Latin-1 and encoded it again") { received, _ in
            decodedOnce(received).map { [$0] } ?? []
        },
        PayloadChange(words: "as a form: something made JSON of it") { received, _ in form(received).map { [$0] } ?? [] },
        PayloadChange(words: "as JSON of its form fields: something made a form of it") { received, _ in [object(received)] },
        PayloadChange(words: "together with the query's parameters: keep those out of the URL that Vonage is given") { received, query in
            merged(received, query)
        },
        PayloadChange(words: "as the query's parameters: the request was a GET") { _, query in query.isEmpty ? [] : [object(query)] },
        PayloadChange(words: "as no body at all: the hash was made before there was one") { _, _ in [[]] },
    ]

    static let ofQueries: [PayloadChange] = [
        PayloadChange(words: "as the raw query: the hash was made before decoding") { received, _ in [received] },
        PayloadChange(words: "with \\/ for / in its object") { received, _ in [replacing(object(received), "/", "\\/")] },
        PayloadChange(words: "with \\u escapes for all letters beyond ASCII in its object") { received, _ in
            [withUnicodeEscapes(object(received))]
        },
        PayloadChange(words: "with plus signs in place of blanks: something decodes + where Vonage does not") { received, _ in
            [object(received.flatMap { $0 == UInt8(ascii: "+") ? Array("%2B".utf8) : [$0] })]
        },
        PayloadChange(words: "decoded once more: something encoded the query a second time") { received, _ in
            [object(replacing(received, "%25", "%"))]
        },
        PayloadChange(words: "with its parameters in another order: something sorted them") { received, _ in
            // Orders in which Vonage is known to send them, whatever comes before and after.
            let pieces = received.split(separator: UInt8(ascii: "&")).map(Array.init)
            return orders.map { order in
                let known = order.compactMap { name in pieces.first { $0.starts(with: Array((name + "=").utf8)) } }
                let rest = pieces.filter { !known.contains($0) }
                return object(Array((known + rest).joined(separator: [UInt8(ascii: "&")])))
            }
        },
        PayloadChange(words: "without its first or last parameter: something added one") { received, _ in
            let pieces = received.split(separator: UInt8(ascii: "&")).map(Array.init)
            guard pieces.count > 1 else { return [] }
            return [pieces.dropFirst(), pieces.dropLast()].map { object(Array($0.joined(separator: [UInt8(ascii: "&")]))) }
        },
        PayloadChange(words: "as the body: the request was a POST") { _, body in body.isEmpty ? [] : [body] },
    ]

    private static let orders = [
        ["to", "from", "from_user", "endpoint_type", "conversation_uuid", "uuid", "region_url", "custom_data"],
        ["to", "from_user", "endpoint_type", "conversation_uuid", "uuid", "region_url", "custom_data"],
        ["from", "to", "uuid", "conversation_uuid", "region_url", "custom_data"],
    ]

    // MARK: What undoes them

    private static func minified(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        return (try? minifyJSON(bytes.span, into: &output)) == nil ? nil : output
    }

    /// `, ` and `: ` outside of strings.
    private static func spaced(_ json: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        for byte in json {
            output.append(byte)
            if isEscaped {
                isEscaped = false
            } else if isInString, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            } else if !isInString, byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") {
                output.append(UInt8(ascii: " "))
            }
        }
        return output
    }

    private static func replacing(_ bytes: [UInt8], _ old: String, _ new: String) -> [UInt8] {
        var output: [UInt8] = []
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        var at = 0
        while at < bytes.count {
            if bytes[at...].starts(with: old) {
                output += new
                at += old.count
            } else {
                output.append(bytes[at])
                at += 1
            }
        }
        return output
    }

    /// `\u00e9` becomes `é`; what must stay escaped does.
    private static func withoutUnicodeEscapes(_ json: [UInt8]) -> [UInt8] {
        rewritten(json) { text in
            var output: [UInt8] = []
            output.appendJSONString(text)
            return output
        }
    }

    /// `é` becomes `\u00e9`, as Python and PHP write it.
    private static func withUnicodeEscapes(_ json: [UInt8]) -> [UInt8] {
        rewritten(json) { text in
            var output: [UInt8] = []
            output.appendJSONString(text)
            var escaped: [UInt8] = []
            for unit in String(decoding: output, as: UTF8.self).utf16 {
                if unit < 0x80 {
                    escaped.append(UInt8(truncatingIfNeeded: unit))
                } else {
                    escaped += "\\u\(String(0x1_0000 + Int(unit), radix: 16).dropFirst())".utf8
                }
            }
            return escaped
        }
    }

    /// Writes each string anew, names too.
    private static func rewritten(_ json: [UInt8], _ string: (String) -> [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var at = 0
        while at < json.count {
            guard json[at] == UInt8(ascii: "\""), let end = skipJSONValue(in: json.span, from: at) else {
                output.append(json[at])
                at += 1
                continue
            }
            var plain: [UInt8] = []
            decodeJSONString(at + 1..<end - 1, in: json.span, into: &plain)
            output += string(String(decoding: plain, as: UTF8.self))
            at = end
        }
        return output
    }

    /// The bytes that were taken for Latin-1 letters; nil where a letter is none.
    private static func decodedOnce(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            guard scalar.value < 0x100 else { return nil }
            output.append(UInt8(scalar.value))
        }
        return output
    }

    /// A query or form as the object that is hashed.
    private static func object(_ query: [UInt8]) -> [UInt8] {
        var payload = QueryPayload()
        payload.read(0..<query.count, in: query.span)
        return payload.json
    }

    /// A JSON object of texts and numbers as a form.
    private static func form(_ json: [UInt8]) -> [UInt8]? {
        guard let json = minified(json), json.first == UInt8(ascii: "{"), json.count > 2 else { return nil }
        var pieces: [[UInt8]] = []
        var members = JSONMembers(in: json.span)
        while let member = members.next(in: json.span) {
            var (name, value): ([UInt8], [UInt8]) = ([], [])
            decodeJSONString(member.name, in: json.span, into: &name)
            if json[member.value.lowerBound] == UInt8(ascii: "\"") {
                decodeJSONString(member.value.lowerBound + 1..<member.value.upperBound - 1, in: json.span, into: &value)
            } else {
                value = Array(json[member.value])
            }
            pieces.append(percentEncoded(name) + [UInt8(ascii: "=")] + percentEncoded(value))
        }
        return Array(pieces.joined(separator: [UInt8(ascii: "&")]))
    }

    private static func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): [byte]
            case 0x20: [UInt8(ascii: "+")]
            default: Array("%\(String(0x100 + Int(byte), radix: 16, uppercase: true).dropFirst())".utf8)
            }
        }
    }

    /// Body and query in one object, in both orders.
    private static func merged(_ body: [UInt8], _ query: [UInt8]) -> [[UInt8]] {
        guard !query.isEmpty, let json = minified(body), json.first == UInt8(ascii: "{"), json.count > 2 else { return [] }
        let parameters = object(query)
        return [
            parameters.dropLast() + [UInt8(ascii: ",")] + json.dropFirst(), json.dropLast() + [UInt8(ascii: ",")] + parameters.dropFirst(),
        ].map(Array.init)
    }
}
