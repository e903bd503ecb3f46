// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import NCCO
import Testing

@testable import Switchboard
@testable import VonageAuth

struct DoctorTests {
    private static let url = "https://calls.example.com"

    private func doctor(now: Int64 = 1_800_000_000_000, _ adjust: (inout Settings) throws -> Void = { _ in }) throws -> Doctor {
        var settings = try Settings()
        try adjust(&settings)
        return Doctor(settings, now: now)
    }

    // MARK: What answers at the public address

    @Test(arguments: [
        (200, "application/json", #"{"status":"ok","proof":"abc"}"#, "reaches this very process"),
        (200, "application/json", #"{"status":"ok","proof":"other"}"#, "reaches another Switchboard"),
        (200, "application/json", #"{"status":"degraded"}"#, "reaches an older Switchboard"),
        (404, "text/html", "<html>The endpoint calls.ngrok-free.app is offline. ngrok</html>", "a page of ngrok"),
        (530, "text/html; charset=UTF-8", "<!DOCTYPE html><title>Cloudflare Tunnel error</title>", "a page of Cloudflare"),
        (511, "text/html", "<a href='https://loca.lt'>", "a page of localtunnel"),
        (502, "text/html", "<center>nginx</center>", "answers 502: whatever is in front finds no server"),
        (301, "text/html", "<center>nginx</center>", "redirects (301)"), (404, "text/html", "<center>nginx</center>", "answers 404"),
        (200, "text/html", "<html>hello</html>", "it is not a Switchboard"), (301, "text/plain", "", "redirects (301)"),
        (502, "text/plain", "bad gateway", "answers 502"), (401, "text/plain", "", "asks for a log-in"),
        (404, "text/plain", "", "answers 404"),
        (200, "text/plain", "hello", "it is not a Switchboard"), (200, "application/json", "[1]", "it is not a Switchboard"),
        (200, "application/json", #"{"status":1}"#, "it is not a Switchboard"),
    ])
    func `whatever answers is told apart`(_ status: Int, _ type: String, _ body: String, _ words: String) {
        let finding = AddressAnswer(status: status, fields: ["content-type": type], body: Array(body.utf8)).finding(
            Self.url, expected: "abc")
        #expect(finding.text.contains(words), "\(finding.text)")
        #expect((finding.verdict == .ok) == (words == "reaches this very process"))
        #expect((finding.cure == nil) == (finding.verdict == .ok))
    }

    @Test func `a proof holds for one process and one nonce`() {
        let (one, other) = (HealthProof(), HealthProof())
        func proof(_ of: HealthProof, _ nonce: String) -> String? {
            let bytes = Array(nonce.utf8)
            return of.proof(of: bytes.span)
        }
        #expect(proof(one, "abc")?.count == 64)
        #expect(proof(one, "abc") == proof(one, "abc"))
        #expect(proof(one, "abc") != proof(one, "abd"))
        #expect(proof(one, "abc") != proof(other, "abc"))
        #expect(proof(one, "") == nil && proof(one, String(repeating: "a", count: 65)) == nil)
    }

    @Test func `health proves a nonce that is asked for`() throws {
        let bench = try HandlerBench()
        func body(_ target: String) throws -> String {
            String(decoding: try #require(try bench.reply("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n").now).body, as: UTF8.self)
        }
        #expect(try body("/health") == "{\"status\":\"ok\"}\n")
        #expect(try body("/health?nonce=") == "{\"status\":\"ok\"}\n")
        let proved = try body("/_/health?nonce=abc")
        #expect(try proved == body("/health?nonce=abc") && proved.hasPrefix("{\"status\":\"ok\",\"proof\":\""))
    }

    // MARK: This machine

    @Test func `a clock that was never set fails, and one that differs from another's is told by how much`() throws {
        #expect(try doctor(now: 1000).clock.verdict == .failed)
        #expect(try doctor().clock.verdict != .failed)
        // Fri, 15 Jan 2027 08:00:00 GMT.
        let field = "Fri, 15 Jan 2027 08:00:00 GMT"
        let doctor = try doctor()
        #expect(doctor.clock(beside: (field, 1_800_000_000_000 + 20_000), of: "Vonage")?.verdict == .ok)
        let ahead = doctor.clock(beside: (field, 1_800_000_000_000 + 400_000), of: "Vonage")
        #expect(ahead?.verdict == .failed && ahead?.text == "is 400 s ahead of the clock of Vonage")
        #expect(doctor.clock(beside: (field, 1_800_000_000_000 - 400_000), of: "Vonage")?.text.hasPrefix("is 400 s behind") == true)
        #expect(doctor.clock(beside: ("yesterday", 0), of: "Vonage") == nil)
    }

    @Test func `a secret is judged without being shown`() throws {
        let doctor = try doctor()
        #expect(doctor.secret(.success(nil)).map(\.verdict) == [.warning])
        #expect(doctor.secret(.failure(UsageError("x"))).map(\.verdict) == [.failed])
        #expect(doctor.secret(.success(try SignatureSecrets("test-signature-secret-0123456789"))).map(\.verdict) == [.ok])
        let short = doctor.secret(.success(try SignatureSecrets("hidden")))
        #expect(short.map(\.verdict) == [.warning] && !short[0].text.contains("hidden"))
    }

    @Test func `the events folder is written to, and left as it was`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        #expect(try doctor { $0.events = folder }.events.map(\.verdict) == [.ok])
        #expect(!FileManager.default.fileExists(atPath: folder))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let finding = try #require(try doctor { $0.events = folder }.events.first)
        #expect(finding.verdict != .failed && finding.text.contains("a sync takes"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        try Data().write(to: URL(fileURLWithPath: folder + "/file"))
        #expect(try doctor { $0.events = folder + "/file" }.events.map(\.verdict) == [.failed])
        #expect(try doctor { $0.events = "/nowhere/at/all" }.events.map(\.verdict) == [.failed])
    }

    @Test func `flows are linted, and a folder that is named must be there`() throws {
        #expect(try doctor { $0.nccos = "/nowhere" }.flows.map(\.verdict) == [.failed])
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(#"[{"action":"talk"}]"#.utf8).write(to: URL(fileURLWithPath: folder + "/broken.json"))
        let finding = try #require(try doctor { $0.nccos = folder }.flows.first)
        #expect(finding.verdict == .failed && finding.cure?.contains("switchboard lint") == true)
    }

    // MARK: What is printed

    @Test func `the first failure decides the exit code, and a warning none`() {
        let (bad, worse) = (DoctorFinding(.events, .failed, "x"), DoctorFinding(.settings, .failed, "x"))
        #expect(DoctorFinding.exitCode([DoctorFinding(.clock, .warning, "x"), bad, worse]) == 73)
        #expect(DoctorFinding.exitCode([worse]) == 64)
        #expect(DoctorFinding.exitCode([DoctorFinding(.clock, .warning, "x"), DoctorFinding(.vonage, .skipped, "x")]) == 0)
        #expect(DoctorFinding(.port, .failed, "x", cure: "y").line == "failed   port         x → y")
    }

    @Test func `the lines for Vonage's command line can be pasted`() {
        let all = VonageCommands.lines(applicationID: "11111111-2222-4333-8444-555555555555", numbers: [], baseURL: "https://a'b")
        #expect(all.count == 2 && all[0].contains("'https://a'\\''b/voice/answer'") && all[1].hasSuffix(" NUMBER"))
        #expect(
            VonageCommands.lines(applicationID: nil, numbers: ["14155550100"], baseURL: nil).first == "vonage apps create 'Switchboard'")
    }
}
