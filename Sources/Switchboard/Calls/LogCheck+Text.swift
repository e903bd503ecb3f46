// SPDX-License-Identifier: MIT
//
// What `switchboard events verify` says: a line for each file and each fault, or one JSON object.

package import EventLog
import JSON
import NCCO

extension LogCheck {
    /// For people.
    package var text: [String] {
        var lines = files.flatMap(\.text)
        for gap in gaps {
            let numbers = gap.first == gap.last ? "number \(gap.first) is" : "numbers \(gap.first) to \(gap.last) are"
            lines.append("\(numbers) missing before \(printable(gap.file))")
        }
        let missing = missing > 0 ? ", \(missing) missing" : ""
        let count = files.reduce(0) { $0 + $1.lines }
        lines.append("\(isGood ? "good" : "NOT good"): \(files.count) files, \(count) lines\(missing)")
        return lines
    }

    /// `{"good","files":[…],"gaps":[{"first","last","file"}],"missing"}`.
    package var json: String {
        var json = "{\"good\":\(isGood),\"files\":[" + files.map(\.json).joined(separator: ",") + "],\"gaps\":["
        json += gaps.map { "{\"first\":\($0.first),\"last\":\($0.last),\"file\":\(quoted($0.file))}" }.joined(separator: ",")
        return json + "],\"missing\":\(missing)}"
    }
}

extension LogCheck.File {
    fileprivate var text: [String] {
        var facts = ["\(lines) lines"]
        if let firstSeq, let lastSeq { facts.append("numbers \(firstSeq) to \(lastSeq)") }
        if repeats > 0 { facts.append("\(repeats) repeats") }
        if isCompressed, failure == nil { facts.append("compressed, intact") }
        if kind == .torn { facts.append("set aside after a crash") }
        if kind == .damaged { facts.append("set aside as damaged") }
        var faults: [String] = []
        if bad > 0 {
            let places = badOffsets.map { "\($0)" }.joined(separator: ", ")
            faults.append("\(bad) lines fail their check, at byte \(places)\(bad > badOffsets.count ? ", …" : "")")
        }
        if isTorn { faults.append("it ends within a line") }
        if disordered > 0 { faults.append("\(disordered) lines have a number that came before") }
        if let failure { faults.append(failure) }
        let name = String(printable(name).dropFirst().dropLast())
        return ["\(name): \(facts.joined(separator: ", "))"] + faults.map { "\(name): \($0)" }
    }

    fileprivate var json: String {
        var json = "{\"name\":\(quoted(name)),\"kind\":\"\(kind)\",\"compressed\":\(isCompressed),\"lines\":\(lines)"
        json += ",\"repeats\":\(repeats),\"first\":\(firstSeq.map { "\($0)" } ?? "null"),\"last\":\(lastSeq.map { "\($0)" } ?? "null")"
        json += ",\"bad\":\(bad),\"bad_at\":[\(badOffsets.map { "\($0)" }.joined(separator: ","))],\"torn\":\(isTorn)"
        json += ",\"disordered\":\(disordered),\"failure\":\(failure.map(quoted) ?? "null")}"
        return json
    }
}

private func quoted(_ text: String) -> String {
    var json: [UInt8] = []
    Masking.unmasked.append(text: text, to: &json)
    return String(decoding: json, as: UTF8.self)
}
