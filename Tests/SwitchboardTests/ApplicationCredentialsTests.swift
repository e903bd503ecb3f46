// SPDX-License-Identifier: MIT

import Foundation
import Testing
import VonageAuth

@testable import Switchboard

private let (id, otherID) = ("11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555")

/// The text of a throw-away key, which lies with the tests of the keys.
private func keyText(_ name: String = "pkcs8") throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../VonageAuthTests/Vectors/keys")
    return try String(contentsOf: folder.appendingPathComponent("throw-away-\(name).pem"), encoding: .utf8)
}

struct ApplicationCredentialsTests {
    /// Files by name, mode 0600, in a folder of their own.
    private func withFolder(_ files: [String: String] = [:], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in files {
            let path = "\(folder)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        try body(folder)
    }

    private func credentials(
        _ arguments: String..., environment: [String: String] = [:], folder: String
    ) throws -> ApplicationCredentials {
        try ApplicationCredentials(try Settings(arguments: arguments, environment: environment), environment: environment, folder: folder)
    }

    private func isSame(_ key: PrivateKey?, _ name: String = "pkcs8") throws -> Bool {
        try key?.sign([1]) == PrivateKey(try keyText(name)).sign([1])
    }

    private func json(_ id: String, _ key: String) -> String {
        "{\"application_name\":\"a\",\"application_id\":\"\(id)\",\"private_key\":\"\(key.replacing("\n", with: "\\n"))\"}"
    }

    @Test func `without anything it is said what is missing`() throws {
        try withFolder { folder in
            let none = try credentials(folder: folder)
            #expect(none.pair == nil && none.warnings == [])
            #expect(
                none.missing
                    == "no application id and no usable private key: set --application-id or VONAGE_APPLICATION_ID, and set --private-key-file or VONAGE_PRIVATE_KEY"
            )
            #expect(none.summary.hasPrefix("none, so tokens cannot be made: "))
            let half = try credentials("--application-id", id, folder: folder)
            #expect(half.missing == "no usable private key: set --private-key-file or VONAGE_PRIVATE_KEY")
            #expect(half.summary.hasPrefix("\(id), but no usable private key"))
            let other = try credentials(environment: ["PRIVATE_KEY": try keyText()], folder: folder)
            #expect(other.missing == "no application id: set --application-id or VONAGE_APPLICATION_ID")
        }
    }

    @Test func `a flag wins over the environment, that over the files, and vonage_app.json over private.key`() throws {
        let (text, other) = (try keyText(), try keyText("other"))
        try withFolder(["vonage_app.json": json(otherID, other), "private.key": text, "flag.key": text]) { folder in
            let files = try credentials(folder: folder)
            #expect(files.applicationID == ApplicationID(otherID))
            #expect(try isSame(files.key, "other"))
            #expect(files.summary == "\(otherID), key from vonage_app.json")
            let environment = ["VONAGE_APPLICATION_ID": id, "VONAGE_PRIVATE_KEY": text, "PRIVATE_KEY": "nonsense"]
            let variables = try credentials(environment: environment, folder: folder)
            #expect(try isSame(variables.key))
            #expect((variables.summary, variables.warnings) == ("\(id), key from VONAGE_PRIVATE_KEY", []))
            let flags = try credentials(
                "--application-id", id, "--private-key-file", "\(folder)/flag.key", environment: ["VONAGE_PRIVATE_KEY": other],
                folder: folder)
            #expect(try isSame(flags.key))
            #expect(flags.summary == "\(id), key from --private-key-file")
            // The id alone may come from the file.
            #expect(try credentials(environment: ["PRIVATE_KEY64": text], folder: folder).applicationID == ApplicationID(otherID))
        }
    }

    @Test func `private.key is found beside a file without a key`() throws {
        try withFolder(["vonage_app.json": "{\"application_id\":\"\(id)\"}", "private.key": try keyText()]) { folder in
            let found = try credentials(folder: folder)
            #expect((found.summary, found.warnings) == ("\(id), key from private.key", []))
            #expect(found.missing == nil)
        }
    }

    @Test(arguments: ["VONAGE_PRIVATE_KEY", "VONAGE_PRIVATE_KEY64", "PRIVATE_KEY", "PRIVATE_KEY64"])
    func `each variable takes a key, its base64, one line, or a path`(_ name: String) throws {
        let text = try keyText()
        try withFolder(["a key.pem": text]) { folder in
            for value in [
                text, text.replacing("\n", with: "\\n"), Data(text.utf8).base64EncodedString(), "\(folder)/a key.pem", json(id, text),
            ] {
                let found = try credentials(environment: [name: value], folder: folder)
                #expect(try isSame(found.key))
                #expect((found.keySource, found.warnings) == (name, []))
                #expect((found.applicationID == nil) == !value.hasPrefix("{"))
            }
            #expect(try credentials(environment: [name: ""], folder: folder).warnings == [])
        }
    }

    @Test func `an application id in the environment has an older name too`() throws {
        try withFolder { folder in
            let older = try credentials(environment: ["API_APPLICATION_ID": id], folder: folder)
            #expect(older.applicationID == ApplicationID(id))
            let both = ["API_APPLICATION_ID": otherID, "VONAGE_APPLICATION_ID": id]
            let newer = try credentials(environment: both, folder: folder)
            #expect(newer.applicationID == ApplicationID(id))
        }
    }

    @Test(arguments: ["--application-id", "VONAGE_APPLICATION_ID", "API_APPLICATION_ID"])
    func `what is no application id stops the start and is not repeated`(_ source: String) {
        let isFlag = source.hasPrefix("--")
        let error = #expect(throws: UsageError.self) {
            try Settings(arguments: isFlag ? [source, "secret"] : [], environment: isFlag ? [:] : [source: "secret"])
        }
        #expect(error?.description == "\(source): this is no application id; it is a UUID like 11111111-2222-4333-8444-555555555555")
    }

    @Test func `a file that a flag names must be a key`() throws {
        let text = try keyText("encrypted-pkcs8")
        try withFolder(["locked": text, "empty": ""]) { folder in
            for (path, words) in [
                ("\(folder)/missing", "cannot be read: No such file"), (folder, "it is a folder"), ("\(folder)/locked", "passphrase"),
                ("\(folder)/empty", "it is empty"), ("/dev/zero", "64 KiB"),
            ] {
                let error = #expect(throws: UsageError.self) { try credentials("--private-key-file", path, folder: folder) }
                #expect(error?.description.hasPrefix("--private-key-file: ") == true)
                #expect(error?.description.contains(words) == true, "\(String(describing: error))")
                #expect(error?.description.contains("\n") == false)
            }
        }
    }

    @Test func `a key that was taken for a path is not shown`() throws {
        let text = try keyText()
        let lines = text.split(separator: "\n").map(String.init)
        try withFolder { folder in
            for value in [text, text.replacing("\n", with: "\\n"), Data(text.utf8).base64EncodedString(), lines[1], lines[1...5].joined()] {
                let error = #expect(throws: UsageError.self) { try credentials("--private-key-file", value, folder: folder) }
                #expect(error?.description.contains("is not shown") == true)
                #expect(error?.description.contains(lines[1].prefix(12)) == false)
            }
            for value in [lines[3], lines[1], lines[1...20].joined(), String(text.dropLast(100))] {
                let found = try credentials(environment: ["VONAGE_PRIVATE_KEY": value], folder: folder)
                #expect(found.key == nil && found.warnings.count == 1)
                #expect(
                    found.warnings.allSatisfy {
                        !$0.contains(lines[3].prefix(12)) && !$0.contains(lines[1].prefix(12)) && !$0.contains("\n")
                    })
                #expect(found.missing != nil || found.applicationID == nil)
            }
        }
    }

    @Test func `a fault elsewhere is a warning, and no other key is taken for it`() throws {
        try withFolder(["private.key": try keyText(), "bad": "x"]) { folder in
            for (value, words) in [("x", "neither a key nor the path"), ("\(folder)/bad", "it holds no key"), (folder, "it is a folder")] {
                let found = try credentials(environment: ["VONAGE_PRIVATE_KEY": value], folder: folder)
                #expect(found.key == nil)
                #expect(found.warnings.count == 1 && found.warnings[0].hasPrefix("VONAGE_PRIVATE_KEY: "))
                #expect(found.warnings[0].contains(words), "\(found.warnings)")
            }
        }
        for (files, warning) in [
            (["private.key": "x"], "private.key: it holds no key; a key begins with -----BEGIN PRIVATE KEY-----"),
            (["vonage_app.json": "{"], "vonage_app.json: it is not valid JSON at line 1, column 2"),
            (["vonage_app.json": "{\"application_id\":\"x\"}"], "vonage_app.json: its application_id is no UUID"),
        ] {
            try withFolder(files) { folder in
                let found = try credentials(folder: folder)
                #expect(found.warnings == [warning])
            }
        }
    }

    @Test func `a key that everybody can read is warned of`() throws {
        try withFolder(["private.key": try keyText()]) { folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/private.key")
            let found = try credentials(folder: folder)
            #expect(found.key != nil)
            #expect(found.warnings == ["private.key: every user of this machine can read the file; chmod 600 it"])
        }
    }

    @Test func `a key of another application than the one that is set is warned of`() throws {
        try withFolder(["vonage_app.json": json(otherID, try keyText())]) { folder in
            let found = try credentials("--application-id", id, folder: folder)
            #expect(found.applicationID == ApplicationID(id))
            #expect(found.warnings.count == 1 && found.warnings[0].contains(otherID) && found.warnings[0].contains(id))
        }
    }
}
