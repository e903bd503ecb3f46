// SPDX-License-Identifier: MIT
//
// `switchboard lint`: files and folders in, findings out. A folder with `flows.json` is looked at as a whole, by the very code that serves it;
// any other JSON file is an NCCO or a template.

package import NCCO

package struct LintReport: Sendable {
    package private(set) var findings: [FileFinding] = []
    package private(set) var files = 0

    package func count(_ severity: Severity) -> Int { findings.count { $0.finding.severity == severity } }

    /// Lints each path: a file, a folder, or `-` for standard input.
    ///
    /// - Throws: `UsageError` for a path that cannot be read, and for a folder without JSON files.
    package init(paths: [String], standardInput: () throws(SmallFileError) -> [UInt8]) throws(UsageError) {
        for path in paths {
            if path == "-" {
                do throws(SmallFileError) { addNCCO(try standardInput(), "-") } catch {
                    throw UsageError("standard input cannot be read: \(error)")
                }
                continue
            }
            let bytes: [UInt8]
            do throws(SmallFileError) { bytes = try readSmallFile(path, limit: FlowFolder.largestFile) } catch {
                guard error.fault == .isFolder else { throw UsageError("\(printable(path)) cannot be read: \(error)") }
                try addFolder(path, only: nil)
                continue
            }
            if path.split(separator: "/").last.map(String.init) == FlowFile.name {
                try addFolder(String(path.dropLast(FlowFile.name.count)), only: path)
            } else {
                addNCCO(bytes, path)
            }
        }
    }

    private mutating func addNCCO(_ bytes: [UInt8], _ file: String) {
        files += 1
        findings += NCCO.check(bytes.span).map { FileFinding(file: file, finding: $0) }
    }

    /// - Parameter only: nil for all files of the folder.
    private mutating func addFolder(_ path: String, only file: String?) throws(UsageError) {
        let folder = FlowFolder(path: path.isEmpty ? "." : path)
        let prefix = path.isEmpty || path.hasSuffix("/") ? path : path + "/"
        switch folder.read().content {
        case .files(let content):
            guard content.flows != nil || !content.templates.isEmpty else {
                throw UsageError("\(printable(path)) holds no .json file")
            }
            guard content.flows != nil else {
                for (name, bytes) in content.templates { addNCCO(bytes, "\(prefix)\(name).json") }
                return
            }
            files += file == nil ? content.templates.count + 1 : 1
            let settings = FlowSettings(numbers: [], inboundUser: "Alice")
            findings += FlowCompiler.compile(content, settings, prefix: prefix).findings.filter { file == nil || $0.file == file }
        case .missing: throw UsageError("\(printable(path)) cannot be read: there is no such file or folder")
        case .unsettled: throw UsageError("\(printable(path)) changes while it is read; try again")
        case .unreadable(let name, let reason): throw UsageError("\(printable(prefix + name)) cannot be read: \(reason)")
        }
    }

    // MARK: Printing

    /// One line for each finding.
    package var text: [String] { findings.map(\.description) }

    /// `2 errors and 1 warning in 3 files`.
    package var summary: String {
        func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        let counts = Severity.allCases.filter { count($0) > 0 }.map { counted(count($0), $0.rawValue) }
        let found = counts.isEmpty ? "nothing to report" : counts.joined(separator: ", ")
        return "\(found) in \(counted(files, "file"))"
    }

    /// `{"findings":[{"file","line","column","severity","code","path","message","cure"}],"files","errors","warnings","notes"}`.
    package var json: String {
        var lines = JSONLines()
        lines.open()
        lines.open("findings", "[")
        for entry in findings { lines.add(entry.finding, of: entry.file) }
        lines.close("]")
        lines.add("files", literal: "\(files)")
        for severity in Severity.allCases { lines.add(severity.rawValue + "s", literal: "\(count(severity))") }
        lines.close()
        return lines.text
    }
}

extension JSONLines {
    /// Adds a finding as an object.
    ///
    /// - Parameter file: nil where the text lies in none.
    mutating func add(_ finding: Finding, of file: String?) {
        open()
        if let file { add("file", file) }
        add("line", literal: "\(finding.line)")
        add("column", literal: "\(finding.column)")
        add("severity", finding.severity.rawValue)
        add("code", finding.code)
        add("path", finding.path)
        add("message", finding.message)
        add("cure", finding.cure)
        close()
    }
}
