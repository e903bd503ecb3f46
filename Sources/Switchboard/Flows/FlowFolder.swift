// SPDX-License-Identifier: MIT
//
// The folder as the file system has it: which files there are, how large and how old, and what is in them. A folder is read only if it is the
// same before and after, so that files that are being exchanged are not mixed.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct FlowFolder: Sendable {
    package enum Content: Sendable {
        case files(FlowFiles)
        /// There is no such folder.
        case missing
        /// It changed while it was read: to be tried again.
        case unsettled
        /// What cannot be read, and why.
        case unreadable(name: String, reason: String)
    }

    package let path: String

    /// A file of a person's is far smaller.
    package static let largestFile = 1024 * 1024
    private static let mostFiles = 1000

    package init(path: String) { self.path = path }

    /// Names, sizes and times of all files that matter.
    package func signature() -> FilesSignature {
        let names: [String]
        do throws(SmallFileError) { names = try self.names() } catch { return FilesSignature([], fault: error) }
        return FilesSignature(
            names.compactMap { FilesSignature.Entry(name: $0, path: "\(path)/\($0)") })
    }

    /// All files of the folder; subfolders are not looked into.
    package func read() -> (content: Content, signature: FilesSignature) {
        let before = signature()
        let entries = before.entries
        if let fault = before.fault {
            return (fault.fault == .system(ENOENT) ? .missing : .unreadable(name: "", reason: fault.description), before)
        }
        guard entries.count <= Self.mostFiles else {
            return (.unreadable(name: "", reason: "it has \(entries.count) files; at most \(Self.mostFiles) are possible"), before)
        }
        var files = FlowFiles(flows: nil, templates: [])
        for entry in entries {
            do throws(SmallFileError) {
                let bytes = try readSmallFile("\(path)/\(entry.name)", limit: Self.largestFile)
                if entry.name == FlowFile.name {
                    files.flows = bytes
                } else {
                    files.templates.append((String(entry.name.dropLast(5)), bytes))
                }
            } catch {
                if error.isMissing { return (.unsettled, before) }
                if error.fault == .isFolder { continue }
                return (.unreadable(name: entry.name, reason: error.description), before)
            }
        }
        return signature() == before ? (.files(files), before) : (.unsettled, before)
    }

    /// What ends in `.json`, sorted; hidden files are an editor's.
    private func names() throws(SmallFileError) -> [String] {
        guard let folder = opendir(path) else { throw SmallFileError(fault: .system(errno)) }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count <= Self.mostFiles, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".json"), !name.hasPrefix("."), name.utf8.count > 5 { names.append(name) }
        }
        return names.sorted()
    }
}
