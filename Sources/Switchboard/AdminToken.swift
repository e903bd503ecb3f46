// SPDX-License-Identifier: MIT
//
// What makes somebody the admin: the token, sent as a bearer or once to log in. It comes from the settings, or is made at the first start and
// kept beside the events, readable by the owner alone.

import HTTPWire
import NCCO
import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct AdminToken: Sendable {
    private let bytes: [UInt8]
    /// Where it lies, if this process did not get it from its environment.
    package let file: String?
    package var text: String { String(decoding: bytes, as: UTF8.self) }
    /// As it may stand behind the `#` of a URL, also one that a terminal underlines.
    var inFragment: String {
        bytes.map { byte in
            let isPlain = byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
    /// For what is authenticated with it.
    var key: [UInt8] { bytes }

    /// A token that is shorter could be guessed over a network.
    private static let shortest = 16
    private static let largestFile = 4096

    init(_ text: String, file: String? = nil, source: String) throws(UsageError) {
        let trimmed = text.utf8.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        guard trimmed.count >= Self.shortest, trimmed.count <= 512, trimmed.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw UsageError("\(source): the admin token must be \(Self.shortest) to 512 printable ASCII characters without blanks")
        }
        bytes = Array(trimmed)
        self.file = file
    }

    /// From the settings; else from `EVENTS/admin-token`, which is made if need be. Where it cannot be kept, it lasts as long as the process.
    package init(_ settings: Settings) throws(UsageError) {
        if let path = settings.adminTokenFile {
            let bytes: [UInt8]
            do throws(SmallFileError) { bytes = try readSmallFile(path, limit: Self.largestFile, mayBePipe: true) } catch {
                throw UsageError("--admin-token-file: \(shownPath(path)) cannot be read: \(error)")
            }
            try self.init(String(decoding: bytes, as: UTF8.self), file: path, source: "--admin-token-file")
        } else if let text = settings.adminToken {
            try self.init(text, source: "SWITCHBOARD_ADMIN_TOKEN")
        } else {
            let path = "\(settings.events)/admin-token"
            // Only one that is not there is made: whatever else is the matter, the next start may find the old one again.
            var isMissing = false
            var found: [UInt8]?
            do throws(SmallFileError) { found = try readSmallFile(path, limit: Self.largestFile) } catch { isMissing = error.isMissing }
            if let found {
                try self.init(String(decoding: found, as: UTF8.self), file: path, source: path)
                return
            }
            var random = SystemRandomNumberGenerator()
            let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
            let token = String(decoding: (0..<40).map { _ in digits.randomElement(using: &random) ?? 0x61 }, as: UTF8.self)
            let kept = isMissing && writePrivateFile(path, token + "\n")
            try self.init(token, file: kept ? path : nil, source: path)
        }
    }

    /// Whether the value of an Authorization field is `Bearer` with this token. Takes the same time for each wrong token of one length.
    func matches(_ authorization: Range<Int>?, in request: Span<UInt8>) -> Bool {
        guard let authorization, authorization.count > 7 else { return false }
        var start = authorization.lowerBound + 7
        guard request.equalsIgnoringCase("bearer ", at: authorization.lowerBound..<start) else { return false }
        while start < authorization.upperBound, request[start] == UInt8(ascii: " ") { start += 1 }
        return constantTimeEquals(request.extracting(start..<authorization.upperBound), bytes.span)
    }

    /// Whether a text that somebody has pasted is this token.
    func matches(text: Range<Int>, in pasted: Span<UInt8>) -> Bool {
        var (start, end) = (text.lowerBound, text.upperBound)
        while start < end, pasted[start] <= 0x20 { start += 1 }
        while start < end, pasted[end - 1] <= 0x20 { end -= 1 }
        return constantTimeEquals(pasted.extracting(start..<end), bytes.span)
    }
}

/// Whether a file with mode 0600 now holds the text: all of it or, after a crash, none, for half a token would stop the next start.
private func writePrivateFile(_ path: String, _ text: String) -> Bool {
    let new = path + ".new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0, rename(new, path) == 0 else {
        unlink(new)
        return false
    }
    return true
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20) && self < 0x80 }
}
