// SPDX-License-Identifier: MIT
//
// Zones by the names of the IANA time zone database, from the files that the system keeps. A name becomes a path, so its characters are
// checked first; none of them can lead out of the folder.

import NCCO

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Zone {
    /// Where zone files are: in `TZDIR` if that is set, else where systems keep them.
    package static var systemFolders: [String] {
        if let folder = getenv("TZDIR").map({ String(cString: $0) }), !folder.isEmpty { return [folder] }
        return ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"]
    }

    /// Reads the zone of a name such as `Europe/London`. `UTC`, `GMT` and `Etc/UTC` need no file.
    ///
    /// It reads a file: call it where flows are loaded, not where a call is answered.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of `A-Za-z0-9_+-/`, without an empty part.
    ///   - folders: looked through in order.
    package static func named(_ name: String, folders: [String] = systemFolders) throws(ZoneError) -> Zone {
        guard isName(name) else { throw .badName(name) }
        if ["UTC", "GMT", "Etc/UTC"].contains(name) { return .utc }
        for folder in folders {
            let path = "\(folder)/\(name)"
            guard let bytes = try readZoneFile(path) else { continue }
            do throws(TZifError) { return try Zone(tzif: bytes.span) } catch { throw .notAZone(file: path, reason: error.description) }
        }
        throw .notFound(name, folders: folders)
    }

    private static func isName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return name.utf8.count <= 64 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(mayStandInName) }
    }

    private static func mayStandInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// Why there is no zone of a name.
package enum ZoneError: Error, Hashable, CustomStringConvertible {
    case badName(String)
    case notFound(String, folders: [String])
    case unreadable(file: String, code: Int32)
    case notAZone(file: String, reason: String)

    package var description: String {
        switch self {
        case .badName(let name):
            "\(printable(name)) is no name of a time zone: write an IANA name such as Europe/London"
        case .notFound(let name, let folders):
            "the time zone \(printable(name)) is not in \(folders.joined(separator: ", ")): write an IANA name such as Europe/London, "
                + "or install the package tzdata"
        case .unreadable(let file, let code):
            "the time zone file \(file) cannot be read: \(String(cString: strerror(code)))"
        case .notAZone(let file, let reason):
            "\(file) is no time zone: \(reason); write an IANA name such as Europe/London"
        }
    }
}

/// Nil where there is no such file.
private func readZoneFile(_ path: String) throws(ZoneError) -> [UInt8]? {
    do throws(SmallFileError) {
        return try readSmallFile(path, limit: Zone.largestFile)
    } catch {
        if error.isMissing { return nil }
        switch error.fault {
        case .system(let code): throw .unreadable(file: path, code: code)
        case .isFolder: throw .notAZone(file: path, reason: "it is a folder of time zones")
        case .isNoFile: throw .notAZone(file: path, reason: error.description)
        case .isTooLarge: throw .notAZone(file: path, reason: TZifError.Fault.tooLarge.rawValue)
        }
    }
}
