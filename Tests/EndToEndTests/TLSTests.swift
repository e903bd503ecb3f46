// SPDX-License-Identifier: MIT
//
// What a server with TLS does besides serving: who does not speak it, who stalls, renewal, and the plain port beside it.

import Foundation
import HTTPServer
import HTTPWire
import TestSupport
import Testing

struct TLSTests {
    @Test(arguments: ["GET", "POST", "HEAD", "OPTIONS"])
    func `who speaks plain HTTP is told so, and nobody else is harmed`(_ method: String) throws {
        try withServer(.tls) { server in
            let witness = try server.client()
            #expect(try witness.ask(get("/health")).status == 200)
            let plain = try Client(port: server.server.port)
            let answer = try plain.ask("\(method) /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(answer.status == 400 && answer["Connection"] == "close")
            #expect(answer["Content-Type"] == "application/problem+json" && answer.text.contains("speaks TLS") == (method != "HEAD"))
            plain.finish()
            try plain.readEnd()
            #expect(try witness.ask(get("/health")).status == 200)
            #expect(server.server.statistics.failedHandshakes == 1 && server.server.statistics.fullHandshakes == 1)
        }
    }

    @Test func `who stalls in the handshake is let go at the limit, and counts as a connection until then`() throws {
        var limits = Limits()
        limits.handshakeTime = 300
        try withServer(.tls, limits: limits) { server in
            let (silent, half) = (try Client(port: server.server.port), try Client(port: server.server.port))
            try half.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
            let client = try server.client()
            #expect(try client.ask(get("/health")).status == 200)
            try silent.readEnd()
            try half.readEnd()
            #expect(try client.ask(get("/health")).status == 200, "who has agreed is not bound by it")
            let statistics = server.server.statistics
            #expect(statistics.accepted == 3 && statistics.open == 1 && statistics.timeouts == 2 && statistics.failedHandshakes == 1)
        }
    }

    @Test func `a renewed certificate is for those who come, and those who are there go on`() throws {
        try withServer(.tls) { server in
            let before = try server.client()
            #expect(try before.ask(get("/health")).status == 200)
            server.server.replaceCertificate(by: try Way.tls(TestCertificate(.rsa2048)))
            for _ in 0..<20 { #expect(try server.ask(get("/health")).status == 200) }
            #expect(try before.ask(get("/health")).status == 200)
        }
    }

    @Test func `a start says what is wrong with a pair, and renewal keeps the one from before`() throws {
        try withFolder { folder in
            let (certificate, key) = ("\(folder)/cert.pem", "\(folder)/key.pem")
            func write(_ text: String, _ path: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
            let (pair, other) = (TestCertificate(), TestCertificate())
            try write(pair.certificate, certificate)
            try write(other.key, key)
            let flags = ["--tls-cert", certificate, "--tls-key", key]
            let end = try ServerProcess.run(["serve", "--port", "0", "--events", "\(folder)/none"] + flags)
            #expect(end.status == 64 && end.output == "" && end.errors.contains("does not belong to the certificate"), "\(end.errors)")
            #expect(end.errors.split(separator: "\n").count == 1)

            try write(pair.key, key)
            let more = ["--redirect-from", "0", "--public-url", "http://localhost"]
            try withProcess(flags + more, environment: ["SWITCHBOARD_ADMIN_TOKEN": TestServer.token]) { server in
                let client = try Client(port: server.port, speaksTLS: true)
                let health = get("/health", "Authorization: Bearer \(TestServer.token)\r\n")
                #expect(try client.ask(health).text.contains("\"ok\""))
                try write(other.key, key)
                try server.read(onErrors: true) { $0.contains("the certificate from before goes on being served\n") }
                #expect(try client.ask(health).text.contains("does not belong to the certificate"))
                #expect(try Client(port: server.port, speaksTLS: true).ask(health).status == 200)
                try write(other.certificate, certificate)
                try server.read(onErrors: true) { $0.contains("tls: the certificate was read anew") }
                #expect(try client.ask(health).text.contains("\"ok\""))

                let started = try server.read { $0.contains("redirects") }
                let plainPort = started.components(separatedBy: "browsers from http://127.0.0.1:").last?.prefix { $0.isNumber }
                let plain = try Client(port: #require(plainPort.flatMap { UInt16($0) }))
                #expect(try plain.ask(get("/calls?a=b"))["Location"] == "https://localhost:\(server.port)/calls?a=b")
                #expect(try plain.ask(post("/voice/event", "{}")).status == 421)
                server.signal(SIGTERM)
                try client.readEnd()
                let end = try server.wait()
                #expect(end.status == 0 && end.errors.contains("warning: --public-url begins with http://"))
            }
        }
    }

    @Test func `commands that start a server of their own need no certificate`() throws {
        let environment = ["TLS_CERT": "/nowhere/cert.pem", "TLS_KEY": "/nowhere/key.pem"]
        #expect(try ServerProcess.run(["call", "--serve"], environment: environment).status == 0)
    }
}
