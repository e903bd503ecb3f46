// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct AdminTokenTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func matches(_ token: AdminToken, _ authorization: String) -> Bool {
        let bytes = Array("xx\(authorization)yy".utf8)
        return token.matches(2..<bytes.count - 2, in: bytes.span)
    }

    @Test func `the bearer is compared whole, its scheme in any case`() throws {
        let token = try AdminToken("  0123456789abcdef\n", source: "test")
        #expect(token.text == "0123456789abcdef")
        for good in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER 0123456789abcdef", "Bearer  0123456789abcdef"] {
            #expect(matches(token, good))
        }
        for bad in [
            "", "Bearer", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Bearer 0123456789abcdefg",
            "Basic  0123456789abcdef", "Bearer\t0123456789abcdef", "Bearerx0123456789abcdef",
        ] { #expect(!matches(token, bad), "\(bad)") }
        let isMatch = token.matches(nil, in: Span())
        #expect(!isMatch)
    }

    @Test(arguments: [
        "", "short", "0123456789abcde", "0123456789abcdef ghi", "0123456789abcdefé", "0123456789\nabcdef",
        String(repeating: "x", count: 513),
    ])
    func `a token that could be guessed or mistyped is refused`(_ text: String) {
        let error = #expect(throws: UsageError.self) { try AdminToken(text, source: "--admin-token-file") }
        #expect(error?.description == "--admin-token-file: the admin token must be 16 to 512 printable ASCII characters without blanks")
    }

    @Test func `one is made at the first start, private, and found at the next`() throws {
        try withFolder { folder in
            var settings = try Settings()
            settings.events = folder
            let first = try AdminToken(settings)
            #expect(first.file == "\(folder)/admin-token")
            #expect(first.text.utf8.count == 40)
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/admin-token")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["admin-token"])
            #expect(try AdminToken(settings).text == first.text)
            try FileManager.default.removeItem(atPath: "\(folder)/admin-token")
            // What a killed process left is in nobody's way.
            try Data("half".utf8).write(to: URL(fileURLWithPath: "\(folder)/admin-token.new"))
            let other = try AdminToken(settings)
            #expect(other.text != first.text)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["admin-token"])
        }
    }

    @Test func `a named file wins over the environment, and that over the folder`() throws {
        try withFolder { folder in
            var settings = try Settings()
            settings.events = folder
            settings.adminToken = "token-of-the-environment"
            #expect(try AdminToken(settings).text == "token-of-the-environment")
            #expect(try AdminToken(settings).file == nil)
            try Data("token-of-the-file-named\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/t"))
            settings.adminTokenFile = "\(folder)/t"
            #expect(try AdminToken(settings).text == "token-of-the-file-named")
            settings.adminTokenFile = "\(folder)/missing"
            let error = #expect(throws: UsageError.self) { try AdminToken(settings) }
            #expect(error?.description.contains("No such file") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["t"])
        }
    }

    @Test func `where it cannot be kept it lasts as long as the process`() throws {
        var settings = try Settings()
        settings.events = "/dev/null/events"
        let token = try AdminToken(settings)
        #expect(token.file == nil)
        #expect(token.text.utf8.count == 40)
    }
}
