// SPDX-License-Identifier: MIT
//
// Records and calls as lines to read on a terminal. Whatever came from outside is escaped, and numbers are masked unless asked otherwise.

import EventLog
import JSON
import NCCO

extension Call {
    /// One line: began, from, to, how it ended, seconds, price, and the call's name.
    package func line(_ masking: Masking = .masked) -> String {
        var ending = word(state.text)
        if answeredBy == "machine" { ending += ", a machine" }
        if case .open = state { ending += ", goes on" }
        if legs.contains(where: { $0.completed == .missing }) { ending += ", completed is missing" }
        let parties = "\(party(from, masking)) → \(party(to, masking))"
        return [
            "\(moment(began))Z", padded(parties, 30), padded(ending, 12), padded(seconds.map { "\($0) s" } ?? "-", 7),
            padded(price?.description ?? "-", 10), word(conversationUUID),
        ].joined(separator: "  ")
    }

    /// The call's story: how it ended, its legs, and every step in order with what was served and what then happened.
    package func timeline(_ masking: Masking = .masked) -> [String] {
        var lines = ["call \(word(conversationUUID)): \(party(from, masking)) → \(party(to, masking))"]
        lines.append("began \(moment(began))Z, \(ending)")
        for call in transferredFrom { lines.append("came from call \(word(call))") }
        for call in transferredTo { lines.append("went on as call \(word(call))") }
        if !legs.isEmpty { lines.append("") }
        var numbers: [String: Int] = [:]
        for (index, leg) in legs.enumerated() {
            numbers[leg.uuid] = index + 1
            lines.append("leg \(index + 1): \(leg.line(masking))")
        }
        lines.append("")
        for step in steps { lines += step.lines(masking, leg: step.leg.flatMap { numbers[$0] }) }
        if omitted > 0 { lines.append("\(omitted) more steps are left out") }
        return lines
    }

    private var ending: String {
        var text =
            switch state {
            case .unknown: "how it ended is not known"
            case .open(let state): "\(state.rawValue), goes on"
            case .ended(let state): state.rawValue
            }
        if let answeredBy { text += ", answered by a \(word(answeredBy))" }
        if let seconds { text += " after \(seconds) s" }
        if let disconnectedBy { text += ", ended by the \(word(disconnectedBy))" }
        if let price { text += ", price \(price) EUR" }
        return text
    }
}

extension Call.Leg {
    fileprivate func line(_ masking: Masking) -> String {
        var parts = [
            "\(word(uuid)) \(word(direction ?? "")) \(party(from, masking)) → \(party(to, masking)): \(state?.rawValue ?? "unknown")"
        ]
        if let detail { parts.append(word(detail)) }
        if let sipCode { parts.append("SIP \(word(sipCode))") }
        if let answeredBy { parts.append("answered by a \(word(answeredBy))") }
        if let seconds { parts.append("\(seconds) s") }
        if let price { parts.append("\(price) EUR") }
        if let disconnectedBy { parts.append("ended by the \(word(disconnectedBy))") }
        switch completed {
        case .received, .notExpected: break
        case .missing: parts.append("its completed event is missing")
        case .transferred: parts.append("transferred")
        case .open: parts.append("goes on")
        }
        return parts.joined(separator: ", ")
    }
}

extension CallStep {
    /// Members of a leg's states that say more than the leg's line.
    private static let shown = ["detail", "sip_code", "sub_state", "duration", "price", "disconnected_by"]

    fileprivate func lines(_ masking: Masking, leg: Int?) -> [String] {
        var head = "\(String(moment(time).suffix(12))) \(word(status ?? kind))"
        if let leg { head += " leg \(leg)" }
        if let flow { head += " \(plain(flow))" }
        if let reason { head += ": \(printable(masking.shown(reason)))" }
        if let about { head += " (about the NCCO of #\(about))" }
        var details: [String] = []
        let isState = status.flatMap(CallState.init) != nil || status == "human" || status == "machine"
        if let event, isState {
            var members = JSONMembers(in: event.span)
            while let member = members.next(in: event.span) {
                let name = String(decoding: event[member.name], as: UTF8.self)
                guard Self.shown.contains(name), event[member.value.lowerBound] != UInt8(ascii: "n") else { continue }
                details.append("\(name) \(shownJSON(Array(event[member.value]), .unmasked))")
            }
        }
        if !details.isEmpty { head += " " + details.joined(separator: ", ") }
        head += "  #\(seq)"
        if isTimeOfArrival { head += ", time of arrival" } else if at != time { head += ", arrived \(delay(at - time))" }
        if repeats > 0 { head += ", came \(repeats + 1) times" }
        if isAgain { head += ", asked again" }
        var lines = [head]
        if let event, !isState { lines.append("             event \(shownJSON(event, masking))") }
        if let request { lines.append("             request \(shownJSON(request, masking))") }
        if let ncco { lines.append("             ncco \(shownJSON(ncco, masking))") }
        if let error { lines.append("             problem: \(printable(masking.shown(error)))") }
        return lines
    }

    private func delay(_ milliseconds: Int64) -> String {
        let size = milliseconds.magnitude
        let text = size < 1000 ? "\(size) ms" : size < 600_000 ? "\(size / 1000) s" : "\(size / 60_000) min"
        return milliseconds < 0 ? "\(text) before" : "\(text) later"
    }
}

extension CallRecord {
    /// One line: arrival, number, what it is, call, leg, parties, and the rule that chose.
    package func line(_ masking: Masking = .masked) -> String {
        var parts = ["\(moment(at))Z", "#\(seq)", word(text(.kind) ?? "?")]
        if let status = text(.status) { parts.append(word(masking.shown(status))) }
        parts.append(text(.call).map(word) ?? "-")
        if let leg = text(.leg) { parts.append("leg \(word(leg))") }
        let from = text(.fromUser) ?? text(.from)
        if from != nil || text(.to) != nil { parts.append("\(party(from, masking)) → \(party(text(.to), masking))") }
        if let flow = text(.flow) { parts.append(plain(flow)) }
        if let reason = text(.reason) { parts.append(printable(masking.shown(reason))) }
        if let error = text(.error) { parts.append("problem: \(printable(masking.shown(error)))") }
        return parts.joined(separator: " ")
    }

    /// Appends the whole line as JSON. Masked, it has no check, which would fit no more.
    package func appendJSON(to output: inout [UInt8], masking: Masking = .masked) {
        let check = Array(#","crc":"xxxxxxxx"}"#.utf8)
        guard case .masked = masking, line.count > check.count, line[line.count - check.count..<line.count - 10].elementsEqual(check[..<8])
        else { return masking.append(line, to: &output) }
        masking.append(line[..<(line.count - check.count)] + [UInt8(ascii: "}")], to: &output)
    }

    /// Whether it belongs to this call or leg, of which a transfer's record has two calls.
    package func names(_ identity: Identity) -> Bool { namesCall(identity) || text(.leg).map(Identity.init) == identity }

    /// Whether it belongs to this call.
    package func namesCall(_ identity: Identity) -> Bool {
        [Field.call, .conversationFrom, .conversationTo].contains { text($0).map(Identity.init) == identity }
    }

    /// The call it names.
    package var call: String? { text(.call) ?? text(.conversationFrom) }

    /// Whether its status, or its kind, is this word.
    package func isStatus(_ word: String) -> Bool { text(.status) == word || text(.kind) == word }
}

/// `2026-11-30 10:00:00.123`.
private func moment(_ milliseconds: Int64) -> String {
    let text = LogTime.text(milliseconds)
    return "\(text.prefix(10)) \(text.dropFirst(11).dropLast())"
}

/// A text that should be a word: without quotes where it is one.
func word(_ text: String) -> String {
    let quoted = printable(text)
    let inside = quoted.dropFirst().dropLast()
    return inside == text && !text.contains(" ") ? text : quoted
}

/// Several words, escaped.
func plain(_ text: String) -> String { String(printable(text).dropFirst().dropLast()) }

func party(_ text: String?, _ masking: Masking) -> String { text.map { word(masking.shown($0)) } ?? "-" }

private func shownJSON(_ json: [UInt8], _ masking: Masking) -> String {
    var output: [UInt8] = []
    masking.append(json, to: &output)
    return String(decoding: output, as: UTF8.self)
}

private func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(width - text.count, 0)) }
