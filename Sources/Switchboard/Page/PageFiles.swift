// SPDX-License-Identifier: MIT
//
// The files of the page, which lie in the binary. Each is compressed once, beside the start, and is then an answer that is ready in both forms.
// A browser keeps it and asks each time whether it is still the same, so a new version of the server is never shown with old scripts.

import CPage
import EventLog
import HTTPWire

/// One file, as a browser gets it.
struct PageFile: Sendable {
    let text: [UInt8]
    private let plain: Response
    /// Nil where it would be no shorter.
    private let compressed: Response?
    private let tag: String
    private let compressedTag: String

    init(name: String, text: [UInt8]) {
        self.text = text
        let type: ContentType =
            switch name.split(separator: ".").last {
            case "css": .style
            case "js": .script
            default: .html
            }
        let hash = Self.hash(text)
        tag = "\"\(hash)\""
        // Another form has another strong tag (RFC 9110 §8.8.3.3).
        compressedTag = "\"\(hash)-gzip\""
        plain = Response(.ok, fields: Self.fields(tag), contentType: type, body: text)
        var fields = Self.fields(compressedTag)
        fields.append("Content-Encoding", "gzip")
        compressed = Gzip.compress(text).flatMap { $0.count < text.count ? $0 : nil }
            .map { Response(.ok, fields: fields, contentType: type, body: $0) }
    }

    private static func fields(_ tag: String) -> FieldBlock {
        var fields = FieldBlock()
        fields.append("Cache-Control", "private, no-cache")
        fields.append("ETag", tag)
        fields.append("Vary", "Accept-Encoding")
        return fields
    }

    /// FNV-1a in 64 bits: it has to tell versions of one file apart, which nobody forges.
    private static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 16)
    }

    func response(to head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Response {
        var (response, tag) = (plain, tag)
        if let compressed, Self.takesGzip(head, bytes) { (response, tag) = (compressed, compressedTag) }
        guard let field = head.value(of: "if-none-match", in: bytes) else { return response }
        var isKnown = false
        bytes.forEachMember(of: field) { member in
            let text = bytes.text(member)
            // Compared weakly (RFC 9110 §13.1.2): a proxy that compresses makes a tag weak.
            if text == "*" || text == tag || text == "W/\(tag)" { isKnown = true }
        }
        return isKnown ? Response(.notModified, fields: Self.fields(tag)) : response
    }

    /// RFC 9110 §12.5.3; a quality of 0 is a no.
    private static func takesGzip(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
        guard let field = head.value(of: "accept-encoding", in: bytes) else { return false }
        var takes = false
        bytes.forEachMember(of: field) { member in
            let parts = bytes.text(member).lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let coding = parts.first, coding == "gzip" || coding == "*" else { return }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            takes = quality > 0
        }
        return takes
    }
}

enum PageFiles {
    static let index = "index.html"
    static let style = "style.css"

    /// By name.
    static let all: [String: PageFile] = {
        var files: [String: PageFile] = [:]
        var place = 0
        while let (name, text) = file(at: place) {
            files[name] = PageFile(name: name, text: text)
            place += 1
        }
        return files
    }()

    /// Nil behind the last.
    private static func file(at place: Int) -> (name: String, text: [UInt8])? {
        let file = page_file_at(place)
        guard let name = file.name else { return nil }
        // Constants of this binary, with the length that the compiler gave them.
        return (String(cString: name), Array(UnsafeBufferPointer(start: file.bytes, count: file.length)))
    }
}
