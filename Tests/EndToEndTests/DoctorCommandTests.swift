// SPDX-License-Identifier: MIT

import Foundation
import HTTPServer
import Testing

struct DoctorCommandTests {
    /// Through no proxy, whatever the environment says: what is asked on this machine stays on it.
    @Test func `a server that runs is found, and its own address leads to it`() throws {
        try withServer(.plain) { server throws in
            let port = "\(server.server.port)"
            let end = try ServerProcess.run(
                [
                    "doctor", "--host", "127.0.0.1", "--port", port, "--events", server.events, "--public-url", "http://127.0.0.1:\(port)",
                ], environment: ["http_proxy": "http://127.0.0.1:1"])
            #expect(end.status == 0, "\(end.output)")
            #expect(end.output.contains("a Switchboard listens at http://localhost:\(port)\n"))
            #expect(end.output.contains("reaches this very process"))
            #expect(end.output.contains("vonage apps capabilities update"))
        }
    }

    @Test func `where nobody listens it answers itself, and another server's address is told apart`() throws {
        try withServer(.plain) { other throws in
            try withFolder { folder in
                let arguments = ["doctor", "--host", "unix:\(folder)/s", "--events", "\(folder)/events", "--public-url"]
                let end = try ServerProcess.run(arguments + [other.url])
                #expect(end.status == 69)
                #expect(end.output.contains("reaches another Switchboard"))
                #expect(!FileManager.default.fileExists(atPath: "\(folder)/events"))
                let nobody = try ServerProcess.run(arguments + ["http://127.0.0.1:1"])
                #expect(nobody.status == 69)
                #expect(nobody.output.contains("cannot be asked"))
            }
        }
    }

    @Test func `another program on the port, and settings that cannot be followed, have their exit codes`() throws {
        try withServer(.plain, serving: ThrowingService()) { other in
            let end = try ServerProcess.run(["doctor", "--host", "127.0.0.1", "--port", "\(other.server.port)", "--events", "/tmp"])
            #expect(end.status == 69)
            #expect(end.output.contains("another program listens"))
        }
        let end = try ServerProcess.run(["doctor", "--port", "x"])
        #expect(end.status == 64)
        #expect(end.output.hasPrefix("failed   settings     --port: \"x\" is not a whole number"))
        let key = try ServerProcess.run(["doctor", "--private-key-file", "/nowhere", "--host", "unix:/tmp/none-\(UUID().uuidString)"])
        #expect(key.status == 65)
    }
}
