// SPDX-License-Identifier: MIT
//
// Whether a log is whole: every line's check, every number in its place, every compressed file to its end.
//
// Numbers count up by one over all files, so a number that is missing is a record that is missing, but for those at the front, which belong to
// files that were deleted for their age. Lines that a start set aside as torn or damaged still count as there.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct LogCheck: Sendable {
    package struct File: Sendable {
        package let name: String
        package let kind: LogFileEntry.Kind
        package internal(set) var isCompressed = false
        /// Good lines.
        package internal(set) var lines = 0
        /// Of these, how many say that their event had come before.
        package internal(set) var repeats = 0
        package internal(set) var firstSeq: UInt64?
        package internal(set) var lastSeq: UInt64?
        /// Lines that fail their check.
        package internal(set) var bad = 0
        /// Bytes of text in front of the first ten of them.
        package internal(set) var badOffsets: [Int64] = []
        /// The file ends within a line.
        package internal(set) var isTorn = false
        /// Lines whose number is not above the one before.
        package internal(set) var disordered = 0
        package internal(set) var failure: String?
    }

    /// Numbers that are missing, both ends included.
    package struct Gap: Hashable, Sendable {
        package let first: UInt64
        package let last: UInt64
        /// The file behind it.
        package let file: String
    }

    package private(set) var files: [File] = []
    /// The first hundred.
    package private(set) var gaps: [Gap] = []
    package private(set) var missing: UInt64 = 0

    /// Nothing is missing or damaged. Torn ends that a start has set aside are what a crash leaves, and no fault.
    package var isGood: Bool {
        missing == 0
            && files.allSatisfy { $0.kind == .torn || $0.bad == 0 && !$0.isTorn && $0.disordered == 0 && $0.failure == nil }
    }

    /// Lines that a start set aside, as ranges of numbers.
    private var aside: [ClosedRange<UInt64>] = []
    private var last: (seq: UInt64, file: String)?

    /// Reads the whole log.
    ///
    /// - Parameters:
    ///   - path: a folder, a file, or `-` for standard input.
    ///   - progress: is told the bytes taken from the disk, and all there are; nil where that is not known.
    /// - Throws: where nothing has that name, or the folder cannot be listed.
    package init(path: String, progress: (Int64, Int64?) -> Void = { _, _ in }) throws(ReadFailure) {
        let reader = try LogReader(path: path)
        let entries = try reader.files()
        guard !entries.isEmpty else {
            guard path == "-" else { return }
            check(try LogInput(standardInput: ()), File(name: "standard input", kind: .given)) { progress($0, nil) }
            return
        }
        let total = entries.reduce(0) { $0 + $1.size }
        var done: Int64 = 0
        let ordered = entries.filter(\.isSetAside) + entries.filter { !$0.isSetAside }
        for entry in ordered {
            if !entry.isSetAside { aside = Self.merged(aside) }
            let file = File(name: entry.name, kind: entry.kind)
            do throws(ReadFailure) {
                check(try LogInput(path: entry.path, name: entry.name), file) { progress(done + $0, total) }
            } catch {
                files.append(file)
                files[files.count - 1].failure = error.reason
            }
            done += entry.size
        }
    }

    private mutating func check(_ input: consuming LogInput, _ file: File, _ progress: (Int64) -> Void) {
        var blocks = LineBlocks(input)
        var file = file
        // The line being written is whole soon, unless nobody writes.
        var patience = file.kind == .current ? 5 : 0
        do throws(ReadFailure) {
            while true {
                let block = try blocks.next(ends: patience == 0)
                guard let block else {
                    guard patience > 0, blocks.pending > 0 else { break }
                    patience -= 1
                    usleep(20_000)
                    continue
                }
                progress(blocks.input.taken)
                _ = blocks.eachLine(in: block) { line, offset in
                    check(line, offset, isWhole: block.isWhole, &file)
                    return true
                }
            }
        } catch {
            file.failure = error.reason
        }
        file.bad += blocks.tooLong
        file.isCompressed = blocks.input.isCompressed
        files.append(file)
    }

    private mutating func check(_ line: Span<UInt8>, _ offset: Int64, isWhole: Bool, _ file: inout File) {
        guard isWhole else {
            file.isTorn = true
            return
        }
        guard let seq = LineFormat.sequence(of: line) else {
            file.bad += 1
            if file.badOffsets.count < 10 { file.badOffsets.append(offset) }
            return
        }
        file.lines += 1
        if LineFormat.isRepeat(line) { file.repeats += 1 }
        file.firstSeq = file.firstSeq ?? seq
        file.lastSeq = seq
        if file.kind == .torn || file.kind == .damaged {
            if let range = aside.last, range.upperBound + 1 == seq {
                aside[aside.count - 1] = range.lowerBound...seq
            } else if aside.count < 10_000 {
                aside.append(seq...seq)
            }
            return
        }
        defer { last = (seq, file.name) }
        guard let last else { return }
        if seq <= last.seq { file.disordered += 1 }
        if seq > last.seq + 1 { noteGap(last.seq + 1...seq - 1, file.name) }
    }

    /// In order, without overlaps.
    private static func merged(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var merged: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Notes what of a range is not among the lines set aside.
    private mutating func noteGap(_ range: ClosedRange<UInt64>, _ file: String) {
        // The first that reaches into it.
        var (low, high) = (0, aside.count)
        while low < high {
            let middle = (low + high) / 2
            if aside[middle].upperBound < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        var next = range.lowerBound
        while low < aside.count, aside[low].lowerBound <= range.upperBound {
            if aside[low].lowerBound > next { note(next...aside[low].lowerBound - 1, file) }
            next = aside[low].upperBound + 1
            low += 1
        }
        if next <= range.upperBound { note(next...range.upperBound, file) }
    }

    private mutating func note(_ range: ClosedRange<UInt64>, _ file: String) {
        missing += range.upperBound - range.lowerBound + 1
        if gaps.count < 100 { gaps.append(Gap(first: range.lowerBound, last: range.upperBound, file: file)) }
    }
}

extension LogFileEntry {
    fileprivate var isSetAside: Bool { kind == .torn || kind == .damaged }
}

extension LineFormat {
    /// Whether a good line says that its event had come before.
    fileprivate static func isRepeat(_ line: Span<UInt8>) -> Bool {
        guard let tail = eventTail(of: line) else { return false }
        let mark: StaticString = #","repeat":true"#
        let start = tail.lowerBound - mark.utf8CodeUnitCount
        guard start > 0 else { return false }
        for offset in 0..<mark.utf8CodeUnitCount where line[start + offset] != mark.utf8Start[offset] { return false }
        return true
    }
}
