// SPDX-License-Identifier: MIT
//
// A key as a file: what can go wrong between a path and a key, each in one line. A text that should be a path may be the key itself, pasted
// into the wrong place; so nothing that could be one is ever shown.

import NCCO
package import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a file gives no key.
struct KeyFileError: Error {
    /// Behind the name of the file or of the setting and a colon.
    let reason: String
    var isMissing = false
}

/// A file that may hold a key, read.
struct KeyFile {
    /// As for a key, which is checked again where it is read.
    static let largest = 64 * 1024

    let bytes: [UInt8]
    /// Whether any user of this machine may read it.
    let isOpenToAll: Bool

    init(_ path: String, mayBePipe: Bool = false) throws(KeyFileError) {
        do throws(SmallFileError) { bytes = try readSmallFile(path, limit: Self.largest, mayBePipe: mayBePipe) } catch {
            throw KeyFileError(reason: "it cannot be read: \(error)", isMissing: error.isMissing)
        }
        var facts = stat()
        isOpenToAll = stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_mode & S_IROTH != 0
    }

    func key() throws(KeyFileError) -> PrivateKey {
        do throws(KeyError) { return try PrivateKey(bytes) } catch { throw KeyFileError(reason: error.description) }
    }

    /// Nil where the file is no JSON of Vonage's tools.
    var document: ApplicationDocument? {
        guard bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "{") else { return nil }
        return try? ApplicationDocument(bytes)
    }
}

/// The public key in a file, or the public half of a private one.
///
/// - Throws: `UsageError` that begins with the flag.
package func readPublicKey(_ path: String, flag: String) throws(UsageError) -> PublicKey {
    let file: KeyFile
    do throws(KeyFileError) { file = try KeyFile(path, mayBePipe: true) } catch {
        throw UsageError("\(flag): \(shownPath(path)): \(error.reason)")
    }
    do throws(KeyError) { return try PublicKey(file.bytes) } catch { throw UsageError("\(flag): \(shownPath(path)): \(error)") }
}

/// The private key in a file.
///
/// - Throws: `UsageError` that begins with the flag.
package func readPrivateKey(_ path: String, flag: String) throws(UsageError) -> PrivateKey {
    do throws(KeyFileError) { return try KeyFile(path, mayBePipe: true).key() } catch {
        throw UsageError("\(flag): \(shownPath(path)): \(error.reason)")
    }
}

/// Whether a text that could be a key is meant as the path of one: short, on one line, and without what keys begin with.
func mayBePath(_ text: String) -> Bool {
    guard text.utf8.count <= 1024, !text.utf8.contains(where: { $0 < 0x20 }) else { return false }
    let first = text.drop { " \"'".contains($0) }
    return !text.contains("-----") && !text.contains("BEGIN") && !text.contains("PRIVATE") && !first.hasPrefix("{")
        && !first.hasPrefix("MII")
        && !first.hasPrefix("LS0t")
}

/// A path as it may be printed: not, where it could be a key.
func shownPath(_ path: String) -> String {
    // A secret or a token in its place has neither a folder nor an ending.
    let isPlain = path.contains("/") || path.contains(".") || path.utf8.count < 16
    guard path.utf8.count <= 255, isPlain, mayBePath(path) else {
        return "what is given is no path, but may be the key itself, and is not shown"
    }
    return printable(path)
}
