// SPDX-License-Identifier: MIT
//
// An inspection for people, and for tools.

internal import JSON

extension TokenInspection {
    /// What the token is and whether it is valid, in one line. It says valid only where the signature was checked.
    public var verdict: String {
        let what =
            switch kind {
            case .application: "application token"
            case .user: "user token"
            case .video: "video token"
            case .webhook: "token of a signed webhook"
            case .openTok: "OpenTok token"
            case .unknown: "token"
            }
        return switch isValid {
        case true?: "valid: the signature of this \(what) is by the given key, and nothing is wrong"
        case false?: "not valid: see what is wrong with this \(what) above"
        case nil: "not verified: nothing is wrong with what this \(what) says, but without a key anybody may have written it"
        }
    }

    /// Lines for a terminal: header and claims in words, findings, the verdict.
    public var text: String {
        var lines: [String] = []
        let all = header + claims
        let width = min(all.map(\.name.unicodeScalars.count).max() ?? 0, 26)
        for claim in all {
            let gap = String(repeating: " ", count: max(width - claim.name.unicodeScalars.count, 0) + 2)
            lines.append("\(claim.name)\(gap)\(claim.value)")
            if !claim.words.isEmpty { lines.append(String(repeating: " ", count: width + 2) + claim.words) }
        }
        if !all.isEmpty { lines.append("") }
        lines += findings.map(\.description)
        lines.append(verdict)
        return lines.joined(separator: "\n")
    }

    /// One object: `kind`, `signature`, `valid` (null where not verified), `seconds_left`, `header`, `claims`, `findings`.
    public var json: String {
        var output = Array("{\"kind\":".utf8)
        output.appendJSONString(kind.rawValue)
        output += ",\"signature\":".utf8
        output.appendJSONString(signature.rawValue)
        output += ",\"valid\":\(isValid.map { "\($0)" } ?? "null")".utf8
        output += ",\"seconds_left\":\(secondsLeft.map { "\($0)" } ?? "null")".utf8
        for (name, claims) in [("header", header), ("claims", claims)] {
            output += ",\"\(name)\":[".utf8
            append(claims.map { [("name", $0.name), ("value", $0.value), ("words", $0.words)] }, to: &output)
        }
        output += ",\"findings\":[".utf8
        append(
            findings.map { finding in
                [("severity", finding.severity.rawValue)] + (finding.name.map { [("name", $0)] } ?? []) + [("message", finding.message)]
            }, to: &output)
        output.append(UInt8(ascii: "}"))
        return String(decoding: output, as: UTF8.self)
    }

    private func append(_ objects: [[(String, String)]], to output: inout [UInt8]) {
        for (index, members) in objects.enumerated() {
            output += (index > 0 ? ",{" : "{").utf8
            for (place, member) in members.enumerated() {
                if place > 0 { output.append(UInt8(ascii: ",")) }
                output.appendJSONString(member.0)
                output.append(UInt8(ascii: ":"))
                output.appendJSONString(member.1)
            }
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "]"))
    }
}
