// SPDX-License-Identifier: MIT
//
// The names of closed files. A name tells what is needed to keep a file or let it go without opening it: when its first line arrived, and
// which number that has. Only what matches exactly is ours; any other name in the folder is never compressed and never deleted.

/// One name, `events-<UTC start>-<first seq>[-<n>].jsonl` and what follows it.
struct ClosedFile: Hashable {
    enum Form: String, CaseIterable {
        /// Lines as they were written.
        case plain = ".jsonl"
        /// One gzip member of the same bytes.
        case compressed = ".jsonl.gz"
        /// A compressed one that is not finished; of no use to anybody.
        case partial = ".jsonl.gz.part"
    }

    let stem: String
    let form: Form
    /// Arrival of the first line, whole seconds.
    let start: TimeStamp
    let firstSequence: UInt64

    var name: String { name(as: form) }

    func name(as form: Form) -> String { stem + form.rawValue }

    static func stem(start: TimeStamp, firstSequence: UInt64) -> String { "events-\(start.compact)-\(firstSequence)" }

    /// Nil for every name that the log does not give to closed files.
    init?(name: String) {
        // Bytes rather than characters: a start goes through thousands of names.
        let bytes = Array(name.utf8)
        let (prefix, hyphen) = (Array("events-".utf8), UInt8(ascii: "-"))
        let time = prefix.count..<prefix.count + TimeStamp.compactLength
        guard bytes.count > time.upperBound, bytes.starts(with: prefix), bytes[time.upperBound] == hyphen,
            let start = TimeStamp(compact: bytes.span.extracting(time))
        else { return nil }
        var rest = bytes[(time.upperBound + 1)...]
        guard let sequence = Self.takeNumber(from: &rest) else { return nil }
        if rest.first == hyphen {
            rest.removeFirst()
            guard let number = Self.takeNumber(from: &rest), number >= 2 else { return nil }
        }
        guard let form = Form(rawValue: String(decoding: rest, as: UTF8.self)) else { return nil }
        self.stem = String(decoding: bytes[..<rest.startIndex], as: UTF8.self)
        (self.form, self.start, firstSequence) = (form, start, sequence)
    }

    /// A number as the log writes it, without leading zeros.
    private static func takeNumber(from bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var number = 0 as UInt64
        var isFirst = true
        while let digit = bytes.first.map({ $0 &- UInt8(ascii: "0") }), digit < 10 {
            guard number > 0 || isFirst else { return nil }
            let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tenfold.addingReportingOverflow(UInt64(digit))
            guard !isTooLarge, !isTooLargeNow else { return nil }
            (number, isFirst) = (sum, false)
            bytes.removeFirst()
        }
        return isFirst ? nil : number
    }
}
