// SPDX-License-Identifier: MIT
//
// The page at `/`: `index.html` with what the server fills in. It is read into pieces once. What came from outside gets in as escaped text and
// in no other way, and where scripts run they take the place of it.

import EventLog
import HTTPWire
import NCCO

enum HomePage {
    private static let parts: [TemplatePart] = {
        let text = String(decoding: PageFiles.all[PageFiles.index]?.text ?? [], as: UTF8.self)
        return (try? templateParts(text)) ?? []
    }()

    /// - Parameters:
    ///   - prefix: below which a proxy shows this server; unreserved characters and slashes.
    ///   - pageToken: of the session; empty where there is none.
    ///   - setUp: HTML.
    ///   - calls: HTML, rows of a table.
    static func html(prefix: String, pageToken: String, setUp: String, calls: String) -> String {
        var html = ""
        for part in parts {
            switch part {
            case .literal(let text): html += text
            case .placeholder("prefix", _): html += prefix
            case .placeholder("csrf", _): html += pageToken
            case .placeholder("setup", _): html += setUp
            case .placeholder("calls", _): html += calls
            case .placeholder: break
            }
        }
        return html
    }

    /// Calls on the page of people without scripts.
    static let mostCalls = 20

    /// Nil for calls that cannot be read.
    static func rows(_ calls: [Call]?, prefix: String) -> String {
        guard let calls else { return note("The calls cannot be read just now; health says why.") }
        guard !calls.isEmpty else { return note("There was no call yet.") }
        return calls.map { call in
            let name = escaped(call.conversationUUID)
            let cells = [
                escaped(LogTime.text(call.began)), escaped(Masking.masked.shown(call.from ?? "")),
                escaped(Masking.masked.shown(call.to ?? "")), escaped(call.state.text),
                call.seconds.map { "\($0)" } ?? "",
                "<a href=\"\(prefix)/calls/\(percentEscaped(call.conversationUUID))\">\(name)</a>",
            ]
            return "<tr>\(cells.map { "<td>\($0)</td>" }.joined())</tr>"
        }.joined(separator: "\n")
    }

    private static func note(_ text: String) -> String { "<tr><td colspan=\"6\">\(escaped(text))</td></tr>" }

    /// A text between tags or in quotes.
    static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var escaped: [UInt8] = []
        escaped.append(bytes.span, escaped: .markup)
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func percentEscaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var escaped: [UInt8] = []
        escaped.append(bytes.span, escaped: .percent)
        return String(decoding: escaped, as: UTF8.self)
    }
}
