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
        let stem = String(name.prefix { $0 != "." })
        guard let form = Form(rawValue: String(name.dropFirst(stem.count))) else { return nil }
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4, parts[0] == "events", let start = TimeStamp(compact: parts[1]) else { return nil }
        // As the log writes them, without a sign or leading zeros.
        guard let sequence = UInt64(parts[2]), String(sequence) == parts[2] else { return nil }
        if parts.count == 4 {
            guard let number = Int(parts[3]), number >= 2, String(number) == parts[3] else { return nil }
        }
        (self.stem, self.form, self.start, firstSequence) = (stem, form, start, sequence)
    }
}
