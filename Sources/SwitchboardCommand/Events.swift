// SPDX-License-Identifier: MIT
//
// `switchboard events`: the log read back, here or on another machine, while the server writes or not. What can be told from a few lines is
// searched as bytes, and only lines that hold what is wanted are looked at: see `LogReader`.

import EventLog
import NCCO
import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Events {
    private static let names = ["tail", "show", "calls", "verify", "replay"]

    static func run(_ arguments: [String], environment: [String: String]) {
        var arguments = arguments
        let name = arguments.isEmpty ? "" : arguments.removeFirst()
        let folder = environment["EVENTS_DIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "events"
        do {
            switch name {
            case "tail": try tail(arguments, folder)
            case "show": try show(arguments, folder)
            case "calls": try calls(arguments, folder)
            case "verify": try verify(arguments, folder)
            case "replay": try replay(arguments, folder, environment)
            default:
                let hint = nearest(name, among: names).map { "did you mean \($0)?" } ?? "write events \(names.joined(separator: ", "))"
                throw UsageError(name.isEmpty ? hint : "\(printable(name)): \(hint)")
            }
        } catch {
            SwitchboardCommand.finish(64, "switchboard events: \(error)")
        }
        SwitchboardCommand.finish(0)
    }

    // MARK: tail

    private static func tail(_ given: [String], _ folder: String) throws {
        let arguments = try CommandArguments(
            given, valued: ["--events", "--call", "--status", "--lines", "-n"], switches: ["-f", "--follow", "--json", "--unmasked"])
        try noOperands(arguments)
        let path = try arguments.value("--events") ?? folder
        let masking = masking(arguments)
        let call = try arguments.value("--call").map { Identity($0) }
        let status = try arguments.value("--status")
        let follows = arguments.has("-f") || arguments.has("--follow")
        let count = try lines(try arguments.value("--lines") ?? arguments.value("-n"), isForCall: call != nil)

        var wanted = LogReader.Wanted()
        if let text = try arguments.value("--call") {
            wanted.needles = needles(text)
        } else if let status {
            wanted.needles = [Array(status.utf8)]
        }
        if call == nil, status == nil { wanted.last = count }
        let reader = try reader(path)
        var screen = Screen()
        var last = LastLines(count: count ?? 0)
        /// Until the end is reached for the first time, only the last lines are kept.
        var keeps = count != nil
        func show(_ record: CallRecord) {
            guard arguments.has("--json") else { return screen.print(record.line(masking)) }
            var json: [UInt8] = []
            record.appendJSON(to: &json, masking: masking)
            screen.print(json)
        }
        func showKept() {
            for line in last.take() {
                if let record = CallRecord(line) { show(record) }
            }
            keeps = false
        }
        var told = Told()
        var isCaughtUp = false
        let follow: () -> Bool = {
            isCaughtUp = true
            showKept()
            told.tell(reader, &screen)
            screen.clearBar()
            screen.flush()
            poll(nil, 0, 100)
            return true
        }
        let progress = { if !isCaughtUp { screen.progress(reader.taken, of: reader.total) } }
        try reader.read(wanted, progress: progress, follow: follows ? follow : nil) { _, text in
            let line = text.withUnsafeBufferPointer { Array($0) }
            if call == nil, status == nil, keeps {
                last.append(line)
                return true
            }
            guard let record = CallRecord(line), call.map({ record.names($0) }) ?? true, status.map({ record.isStatus($0) }) ?? true else {
                return true
            }
            if keeps { last.append(line) } else { show(record) }
            if follows, !keeps { screen.flush() }
            return true
        }
        showKept()
        screen.clearBar()
        told.tell(reader, &screen)
        screen.flush()
    }

    /// How many lines are shown; nil for all.
    private static func lines(_ text: String?, isForCall: Bool) throws(UsageError) -> Int? {
        guard let text else { return isForCall ? nil : 10 }
        if text == "all" { return nil }
        guard let count = Int(text), (0...100_000).contains(count) else {
            throw UsageError("--lines: \(printable(text)); write a number up to 100000, or all")
        }
        return count
    }

    // MARK: show

    private static func show(_ given: [String], _ folder: String) throws {
        let arguments = try CommandArguments(given, valued: ["--events"], switches: ["--json", "--unmasked"])
        guard arguments.operands.count == 1, let name = arguments.operands.first, !name.isEmpty else {
            throw UsageError("write switchboard events show CALL, a call's conversation_uuid or a leg's uuid")
        }
        let path = try arguments.value("--events") ?? folder
        var screen = Screen()
        let (found, legsCalls) = try read(path, calls: [name], &screen)
        var shown = found
        if shown.isEmpty, !legsCalls.isEmpty {
            guard path != "-" else {
                throw UsageError("that is a leg of call \(printable(legsCalls[0])): standard input cannot be read twice, name the call")
            }
            shown = try read(path, calls: legsCalls, &screen).calls
        }
        screen.clearBar()
        guard !shown.isEmpty else {
            screen.note("switchboard events: no call or leg \(printable(name)) in \(printable(path))")
            SwitchboardCommand.finish(1)
        }
        for (index, call) in shown.enumerated() {
            if arguments.has("--json") {
                var json: [UInt8] = []
                call.appendJSON(to: &json, masking: masking(arguments))
                screen.print(json)
            } else {
                if index > 0 { screen.print("") }
                for line in call.timeline(masking(arguments)) { screen.print(line) }
            }
        }
        screen.flush()
    }

    /// These calls, and the calls that have a leg of that name.
    private static func read(_ path: String, calls names: [String], _ screen: inout Screen) throws -> (calls: [Call], ofLegs: [String]) {
        let wantedCalls = names.map { Identity($0) }
        var wanted = LogReader.Wanted()
        wanted.needles = names.flatMap { needles($0) }
        let reader = try reader(path)
        var book = CallBook()
        var ofLegs: [String] = []
        var drawing = screen
        let progress = { drawing.progress(reader.taken, of: reader.total) }
        try reader.read(wanted, progress: progress) { _, text in
            guard let record = CallRecord(text.withUnsafeBufferPointer { Array($0) }) else { return true }
            if wantedCalls.contains(where: { record.namesCall($0) }) {
                book.add(record)
            } else if wantedCalls.contains(where: { record.names($0) }), let call = record.call, ofLegs.count < 100, !ofLegs.contains(call)
            {
                ofLegs.append(call)
            }
            return true
        }
        drawing.clearBar()
        var told = Told()
        told.tell(reader, &drawing)
        screen = drawing
        let now = now()
        return (names.compactMap { book.call($0, now: now) }, ofLegs)
    }

    // MARK: calls

    /// How long before a time a call may have begun that goes on then, in milliseconds.
    private static let longestCall: Int64 = 86_400_000

    private static func calls(_ given: [String], _ folder: String) throws {
        let arguments = try CommandArguments(
            given, valued: ["--events", "--since", "--to", "--status", "--number", "--user"], switches: ["--json", "--unmasked"])
        try noOperands(arguments)
        let path = try arguments.value("--events") ?? folder
        let masking = masking(arguments)
        var filter = CallFilter()
        filter.since = try time("--since", arguments)
        filter.to = try time("--to", arguments)
        filter.status = try arguments.value("--status")
        filter.user = try arguments.value("--user")
        if let text = try arguments.value("--number") {
            guard let number = PhoneNumber(lenient: text) else { throw UsageError("--number: \(printable(text)) is no phone number") }
            filter.number = number
        }
        var wanted = LogReader.Wanted()
        wanted.since = filter.since.map { $0 - longestCall }
        // What happens to a call after that time still tells how it ended.
        wanted.to = filter.to.map { $0 + longestCall }
        let reader = try reader(path)
        var screen = Screen()
        var book = CallBook()
        func show(_ call: Call) {
            guard filter.matches(call) else { return }
            guard arguments.has("--json") else { return screen.print(call.line(masking)) }
            var json: [UInt8] = []
            call.appendJSON(to: &json, masking: masking, steps: false)
            screen.print(json)
        }
        let progress = { screen.progress(reader.taken, of: reader.total) }
        try reader.read(wanted, progress: progress) { line, text in
            if let since = wanted.since, line.at < since { return true }
            if let to = wanted.to, line.at >= to { return true }
            if let record = CallRecord(text.withUnsafeBufferPointer { Array($0) }) { book.add(record) { show($0) } }
            return true
        }
        var rest: [Call] = []
        book.drain(steps: false) { rest.append($0) }
        for call in rest.sorted(by: { ($0.began, $0.conversationUUID) < ($1.began, $1.conversationUUID) }) { show(call) }
        screen.clearBar()
        var told = Told()
        told.tell(reader, &screen)
        screen.flush()
    }

    // MARK: verify

    private static func verify(_ given: [String], _ folder: String) throws {
        let arguments = try CommandArguments(given, valued: ["--events"], switches: ["--json"])
        try noOperands(arguments)
        let path = try arguments.value("--events") ?? folder
        var screen = Screen()
        let check: LogCheck
        do throws(ReadFailure) {
            check = try LogCheck(path: path) { screen.progress($0, of: $1) }
        } catch {
            throw UsageError(hint(error))
        }
        screen.clearBar()
        for line in arguments.has("--json") ? [check.json] : check.text { screen.print(line) }
        screen.flush()
        SwitchboardCommand.finish(check.isGood ? 0 : 1)
    }

    // MARK: shared

    static func noOperands(_ arguments: CommandArguments) throws(UsageError) {
        if let operand = arguments.operands.first {
            throw UsageError("\(printable(operand)) is not expected; the log is named by --events")
        }
    }

    static func masking(_ arguments: CommandArguments) -> Masking { arguments.has("--unmasked") ? .unmasked : .masked }

    static func reader(_ path: String) throws(UsageError) -> LogReader {
        do throws(ReadFailure) { return try LogReader(path: path) } catch { throw UsageError(hint(error)) }
    }

    private static func hint(_ failure: ReadFailure) -> String {
        "\(printable(failure.name)): \(failure.reason)\(failure.isMissing ? "; name the log by --events PATH" : "")"
    }

    static func time(_ flag: String, _ arguments: CommandArguments) throws(UsageError) -> Int64? {
        guard let text = try arguments.value(flag) else { return nil }
        guard let time = TimeArgument.milliseconds(text, now: now()) else {
            throw UsageError("\(flag): \(printable(text)) is no time; write \(TimeArgument.allowed)")
        }
        return time
    }

    /// The spellings of a call's or leg's name that may stand in the log.
    static func needles(_ name: String) -> [[UInt8]] {
        // Only legs are written without dashes too, and each spelling is a search of its own.
        if name.hasPrefix("CON-") { return [Array(name.utf8.dropFirst(4))] }
        let key = Identity(name).key
        guard key != name || key.utf8.count == 32 else { return [Array(name.utf8)] }
        let digits = Array(key.utf8)
        let dashed = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]].joined(separator: "-".utf8)
        return [Array(dashed), digits]
    }

    /// What has been told of all that could not be read.
    struct Told {
        private var lines = 0
        private var failures = 0
        /// Places of lines that are told one by one.
        private static let most = 10

        mutating func tell(_ reader: LogReader, _ screen: inout Screen) {
            for line in reader.badLines.prefix(Self.most).dropFirst(lines) {
                let reason = line.isTorn ? "the file ends within a line" : "no line of the log, or changed since it was written"
                screen.note("\(String(printable(line.file).dropFirst().dropLast())), byte \(line.offset): \(reason)")
            }
            if reader.badCount > max(Self.most, lines) { screen.note("\(reader.badCount) lines could not be read") }
            lines = reader.badCount
            for failure in reader.failures.dropFirst(failures) { screen.note("\(printable(failure.name)): \(failure.reason)") }
            failures = reader.failures.count
        }
    }

    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The last lines of many, within 64 MiB.
private struct LastLines {
    private let count: Int
    private var lines: [[UInt8]] = []
    private var first = 0
    private var bytes = 0

    init(count: Int) { self.count = count }

    mutating func append(_ line: [UInt8]) {
        lines.append(line)
        bytes += line.count
        while lines.count - first > count || (bytes > 64 * 1024 * 1024 && lines.count > first) {
            bytes -= lines[first].count
            lines[first] = []
            first += 1
        }
        // Moves what is left once in a while, not each time.
        if first > 1000, first > count {
            lines.removeFirst(first)
            first = 0
        }
    }

    mutating func take() -> ArraySlice<[UInt8]> {
        defer { self = LastLines(count: count) }
        return lines[first...]
    }
}
