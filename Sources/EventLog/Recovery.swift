// SPDX-License-Identifier: MIT
//
// From whatever a crash, a power cut or a bad disk left behind to a file that can be appended to.
//
// Every line is checked: its beginning, its check sum, and that its number is above the one before. The first bad byte decides. Within the
// last 4 MiB it is the torn end of a crash: the rest is copied to a file of its own, then cut off. Further up it is damage: the whole
// file is set aside, a new one begun, and health names it, for calls must be answered. Nothing is ever deleted.
//
// A crash in between is recovered like any other. Each step leaves a folder from which the next start does the rest: a torn end is cut
// only when its copy is on disk (a second crash gives a second copy, never none), and the next number is above every good line of every
// file that could hold the highest: torn ends always, the others while the file is empty.
//
// Where a disk cannot read a file, what lies behind that place could hold any number of lines, so as many numbers as lines could fit
// there are passed over. Left out: reading compressed files. The newest file is compressed only once the next one holds a line, so their last
// numbers count only where a folder was put together from copies; then as many are passed over too.
//
// Of closed files none is read but the end of the newest, and that only where a crash came between closing it and the first line of the
// next: a start takes no longer with a longer log. For the same reason the repeat window is refilled from the current file alone: an event
// that Vonage sends again across both a closed file and a restart, seconds apart, is not marked.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct Recovery {
    /// A file ready for appending.
    struct Opened: ~Copyable {
        let file: LogFile
        var survey: Survey
        var tornBytes = 0
        /// The file that was set aside for it, and its first bad byte.
        var damaged: (name: String, offset: Int)?

        consuming func intoFile() -> LogFile { file }
    }

    /// What a check of one file found.
    struct Survey {
        /// Up to the first bad byte, or the whole file.
        var goodLength: Int64 = 0
        var size: Int64 = 0
        var isReadable = true
        /// The highest number in any good line, also behind bad ones; 0 without any.
        var highest: UInt64 = 0
        var first: (sequence: UInt64, time: TimeStamp)?
        /// From here on lie at least as many events as the repeat window holds, or all.
        var refillFrom: Int64 = 0
    }

    /// Below this many bytes no line can be: `{"seq":1,"at":"…",` and its check.
    private static let shortestLine: Int64 = 60

    /// For opening the current file: `O_NONBLOCK` because a pipe of that name would wait for a reader.
    static let flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

    let folder: Folder
    let tornRegion: Int
    let repeatWindow: Int
    let report: @Sendable (LogNotice) -> Void

    /// Opens the current file, made good or new; not yet synced, and neither is the folder.
    ///
    /// - Parameter known: the number of the next line as far as it is known without the files.
    func open(known: UInt64 = 0) throws(SystemFailure) -> Opened {
        var opened = try check()
        if opened.survey.goodLength < opened.survey.size {
            let bad = opened.survey.size - opened.survey.goodLength
            if opened.survey.isReadable, bad <= Int64(tornRegion) {
                let copy = try copyTail(of: opened.file, from: opened.survey.goodLength)
                try opened.file.cut(to: opened.survey.goodLength)
                opened.survey.size = opened.survey.goodLength
                opened.tornBytes = Int(bad)
                report(.tornTailCut(bytes: Int(bad), copy: copy))
            } else {
                let offset = Int(opened.survey.goodLength)
                let name = folder.freeName(stem: Folder.damagedPrefix + TimeStamp.now.compact, suffixes: [".jsonl"])
                try folder.rename(Folder.current, to: name)
                report(.damagedFileSetAside(name: name, offset: offset))
                let highest = opened.survey.highest
                opened = try check()
                opened.survey.highest = highest
                opened.damaged = (name, offset)
            }
        }
        opened.survey.highest = max(opened.survey.highest, try highestElsewhere(isEmpty: opened.survey.size == 0, known: known))
        return opened
    }

    /// Notes the last events of the file in the window.
    func refill(_ window: inout RepeatWindow, from file: borrowing LogFile, survey: Survey) throws(SystemFailure) {
        var reader = LineReader(from: survey.refillFrom)
        while reader.offset < survey.goodLength, let line = try reader.next(in: file) {
            let bytes = reader.buffer.span.extracting(line.range)
            guard let tail = LineFormat.eventTail(of: bytes) else { continue }
            let event = bytes.extracting(tail)
            _ = window.note(RepeatWindow.hash(event.extracting(LineFormat.repeatPart(ofTail: event))))
            window.keep()
        }
    }

    private func check() throws(SystemFailure) -> Opened {
        let path = folder.path(of: Folder.current)
        let file = try LogFile(path: path, flags: Self.flags, calls: folder.calls)
        let facts = try file.facts()
        guard facts.isRegular else { throw SystemFailure("append to what is no plain file,", path, code: EINVAL) }
        let survey = survey(file, size: facts.size)
        return Opened(file: file, survey: survey)
    }

    func survey(_ file: borrowing LogFile, size: Int64) -> Survey {
        var survey = Survey()
        survey.size = size
        var reader = LineReader()
        var isGood = true
        var last: UInt64 = 0
        var events = 0
        // One mark in so many events, and enough marks for a window.
        let step = 1024
        var marks: [Int64] = []
        do {
            while let line = try reader.next(in: file) {
                let bytes = reader.buffer.span.extracting(line.range)
                let sequence = LineFormat.sequence(of: bytes)
                if let sequence { survey.highest = max(survey.highest, sequence) }
                guard isGood, line.isWhole, let sequence, sequence > last else {
                    isGood = false
                    continue
                }
                last = sequence
                if survey.first == nil { survey.first = (sequence, LineFormat.time(of: bytes) ?? TimeStamp(milliseconds: 0)) }
                survey.goodLength = reader.offset
                if LineFormat.eventTail(of: bytes) != nil {
                    if events % step == 0 { marks.append(line.offset) }
                    events += 1
                    if marks.count > repeatWindow / step + 2 { marks.removeFirst() }
                }
            }
        } catch {
            survey.isReadable = false
            survey.highest += UInt64(max(size - reader.offset, 0) / Self.shortestLine)
        }
        survey.refillFrom = marks.first ?? survey.goodLength
        // A file that grew meanwhile is judged by what was read.
        survey.size = max(survey.size, reader.offset)
        return survey
    }

    private func copyTail(of file: borrowing LogFile, from offset: Int64) throws(SystemFailure) -> String {
        let name = folder.freeName(stem: Folder.tornPrefix + TimeStamp.now.compact, suffixes: [""])
        let copy = try LogFile(path: folder.path(of: name), flags: O_WRONLY | O_APPEND | O_CREAT | O_EXCL, calls: folder.calls)
        do throws(SystemFailure) {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            var place = offset
            while case let count = try file.read(into: &buffer, range: buffer.indices, at: place), count > 0 {
                try copy.append(buffer.span.extracting(0..<count))
                place += Int64(count)
            }
            try copy.sync()
            try folder.sync()
        } catch {
            // Half a copy says nothing that the file does not still say.
            try? folder.unlink(name)
            throw error
        }
        return name
    }

    /// The highest number that files beside the current one hold, as far as the current one cannot tell.
    private func highestElsewhere(isEmpty: Bool, known: UInt64) throws(SystemFailure) -> UInt64 {
        var highest: UInt64 = 0
        var newest: ClosedFile?
        var scanned: [String] = []
        for name in try folder.names() where name.hasPrefix("events") && name != Folder.current && name != Folder.lock {
            if let closed = ClosedFile(name: name) {
                // Numbers only grow, so of closed files the one that begins highest holds the highest.
                highest = max(highest, closed.firstSequence)
                guard closed.form != .partial else { continue }
                // Of both forms of one file the plain one, which is listed first.
                if closed.firstSequence >= newest?.firstSequence ?? 0, closed.stem != newest?.stem { newest = closed }
            } else if isEmpty || name.hasPrefix(Folder.tornPrefix) {
                scanned.append(name)
            }
        }
        if isEmpty, let newest {
            if newest.form == .plain {
                scanned.append(newest.name)
            } else if known <= newest.firstSequence {
                highest = max(highest, newest.firstSequence + linesAtMost(inCompressed: newest.name))
            }
        }
        for name in scanned {
            let path = folder.path(of: name)
            // What cannot be opened is not ours, and no reason to refuse events.
            guard let facts = FileFacts(path: path), facts.isRegular,
                let file = try? LogFile(path: path, flags: O_RDONLY | O_NOFOLLOW, calls: folder.calls)
            else { continue }
            let atEnd = name == newest?.name ? highestAtEnd(of: file, size: facts.size) : nil
            highest = max(highest, atEnd ?? survey(file, size: facts.size).highest)
        }
        return highest
    }

    /// So many lines could be in a compressed file, by the length that its trailer tells.
    private func linesAtMost(inCompressed name: String) -> UInt64 {
        guard let file = try? LogFile(path: folder.path(of: name), flags: O_RDONLY | O_NOFOLLOW, calls: folder.calls),
            let length = Gzip.plainLength(of: file)
        else { return 0 }
        return UInt64(length / Self.shortestLine)
    }

    /// The number of the last line of a closed file, without reading all of it; nil where the end holds no good line.
    private func highestAtEnd(of file: borrowing LogFile, size: Int64) -> UInt64? {
        // Wherever it begins, a whole line of the longest lies within.
        var reader = LineReader(from: max(size - 2 * Int64(LineFormat.longest + 1), 0))
        var highest: UInt64?
        do {
            while let line = try reader.next(in: file) {
                guard let sequence = LineFormat.sequence(of: reader.buffer.span.extracting(line.range)) else { continue }
                highest = max(highest ?? 0, sequence)
            }
        } catch { return nil }
        return highest
    }
}
