// SPDX-License-Identifier: MIT
//
// Certificate and key as files that change. Nobody waits half a second here: `look` is what the timer calls.

import Foundation
import HTTPServer
import Locking
import TestSupport
import Testing

@testable import Switchboard

private final class CertificateBench {
    let folder: String
    var certificate: String { folder + "/cert.pem" }
    var key: String { folder + "/key.pem" }
    private let lines = Locked<[String]>([])
    /// Milliseconds since 1970.
    private let wall = Locked(Clock.system.wall())
    private(set) var store: CertificateStore!

    init(_ pair: TestCertificate? = .shared) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if let pair { try write(pair) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func open() throws {
        let settings = try Settings(arguments: ["--tls-cert", certificate, "--tls-key", key], environment: [:])
        let clock = Clock(monotonic: { 0 }, wall: { [wall] in wall.withLock { $0 } })
        store = try CertificateStore(settings, clock: clock) { [lines] line in lines.withLock { $0.append(line) } }
    }

    func write(_ pair: TestCertificate) throws {
        try write(pair.certificate, certificate)
        try write(pair.key, key)
    }

    func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func pass(seconds: Int64) { wall.withLock { $0 += seconds * 1000 } }

    /// A change counts once it has stayed the same for one look.
    func look() {
        store.look()
        store.look()
    }

    /// What was reported since the last call.
    func reported() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

struct CertificateStoreTests {
    private func startError(_ bench: CertificateBench) -> String {
        do {
            try bench.open()
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test func `without the settings there is none`() throws {
        #expect(try CertificateStore(Settings()) { _ in } == nil)
    }

    @Test func `a good pair serves and is shown`() throws {
        let bench = try CertificateBench()
        try bench.open()
        #expect(bench.store.summary.hasPrefix("DNS:localhost, IP Address:127.0.0.1, until 2"))
        #expect(bench.store.problem == nil)
        bench.look()
        #expect(bench.reported() == [])
    }

    @Test func `what keeps a start from a pair is one line with file and cure`() throws {
        func expect(_ words: String..., place: SourceLocation = #_sourceLocation, _ change: (CertificateBench) throws -> Void) throws {
            let bench = try CertificateBench()
            try change(bench)
            let error = startError(bench)
            #expect(words.allSatisfy(error.contains), "\(error)", sourceLocation: place)
            #expect(!error.contains("\n"), sourceLocation: place)
        }
        let other = TestCertificate()
        try expect("--tls-cert: ", "cert.pem\": it cannot be read: No such file") {
            try FileManager.default.removeItem(atPath: $0.certificate)
        }
        try expect("--tls-key: ", "key.pem\": it cannot be read: No such file") { try FileManager.default.removeItem(atPath: $0.key) }
        try expect("--tls-key: ", "does not belong to the certificate; name") { try $0.write(other.key, $0.key) }
        try expect("--tls-cert: ", "holds no certificate") { try $0.write(other.key, $0.certificate) }
        try expect("--tls-key: ", "is a certificate and no key; take the key that the certificate was made for") {
            try $0.write(other.certificate, $0.key)
        }
        try expect("--tls-cert: ", "has expired on", "renew it") { try $0.write(TestCertificate(begins: -7200, ends: -3600)) }
        try expect("--tls-cert: ", "it is a folder") {
            try FileManager.default.removeItem(atPath: $0.certificate)
            try FileManager.default.createDirectory(atPath: $0.certificate, withIntermediateDirectories: false)
        }
    }

    @Test func `a renewed pair serves once both files have stayed the same for a look`() throws {
        let bench = try CertificateBench()
        try bench.open()
        let before = bench.store.current
        let renewed = TestCertificate(names: "DNS:new.example.com")
        try bench.write(renewed.key, bench.key)
        bench.store.look()
        try bench.write(renewed.certificate, bench.certificate)
        bench.store.look()
        #expect(bench.store.current === before && bench.reported() == [], "half of it is nothing to tell of")
        bench.store.look()
        #expect(bench.store.current !== before && bench.store.current.names == "DNS:new.example.com")
        #expect(bench.reported().map { $0.hasPrefix("tls: the certificate was read anew: DNS:new.example.com, until ") } == [true])
        #expect(bench.store.problem == nil)
    }

    @Test func `a pair that is not good is told once, and the one from before stays`() throws {
        let bench = try CertificateBench()
        try bench.open()
        let before = bench.store.current
        try bench.write(TestCertificate().key, bench.key)
        bench.look()
        let lines = bench.reported()
        #expect(lines.count == 1 && lines[0].contains("does not belong") && lines[0].hasSuffix("goes on being served"), "\(lines)")
        #expect(bench.store.problem?.contains("does not belong") == true)
        bench.look()
        #expect(bench.reported() == [] && bench.store.current === before)
        try FileManager.default.removeItem(atPath: bench.key)
        bench.look()
        #expect(bench.store.problem?.contains("No such file") == true && bench.reported().count == 1)
        try bench.write(TestCertificate.shared)
        bench.look()
        #expect(bench.store.problem == nil && bench.store.current !== before && bench.reported().count == 1)
    }

    @Test func `a pair that is not valid yet serves once it is, without another change`() throws {
        let bench = try CertificateBench()
        try bench.open()
        try bench.write(TestCertificate(names: "DNS:later.example.com", begins: 7200, ends: 86_400))
        bench.look()
        #expect(bench.store.problem?.contains("valid from") == true && bench.store.current.names.contains("localhost"))
        bench.pass(seconds: 7200)
        bench.look()
        #expect(bench.store.problem == nil && bench.store.current.names == "DNS:later.example.com")
    }

    @Test func `in its last week a certificate is warned of`() throws {
        let (late, early) = (
            try CertificateBench(TestCertificate(ends: 6 * 86_400)), try CertificateBench(TestCertificate(ends: 8 * 86_400))
        )
        try late.open()
        try early.open()
        #expect(late.store.warning?.contains("it expires on ") == true && early.store.warning == nil)
    }

    @Test func `a certificate that runs out while it serves is a problem`() throws {
        let bench = try CertificateBench(TestCertificate(ends: 3600))
        try bench.open()
        #expect(bench.store.problem == nil)
        bench.pass(seconds: 3700)
        #expect(bench.store.problem?.contains("it has expired on") == true)
        bench.look()
        #expect(bench.reported().map { $0.contains("it has expired on") } == [true], "which is told once")
        try bench.write(TestCertificate(ends: 86_400))
        bench.look()
        #expect(bench.store.problem == nil)
    }
}
