// SPDX-License-Identifier: MIT
//
// What can be found out about a set-up on this machine alone: settings, secret, clock, flows, the events folder. Nothing is changed but for a file
// in the events folder that is written, timed and removed again. What needs a network is in the command.

import CLinux
import EventLog
import HTTPServer
import NCCO
package import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct Doctor {
    let settings: Settings
    /// Milliseconds since 1970.
    let now: Int64

    package init(_ settings: Settings, now: Int64) {
        self.settings = settings
        self.now = now
    }

    package var number: DoctorFinding {
        guard let first = settings.numbers.first else {
            return DoctorFinding(
                .number, .warning, "none is set: calls go out without a caller id, and any called number counts as ours",
                cure: "set --number or VONAGE_NUMBER to your Vonage number")
        }
        let others = settings.numbers.count == 1 ? "" : ", and \(settings.numbers.count - 1) more"
        return DoctorFinding(.number, .ok, "\(first) is in Vonage's form\(others); calls go out from it")
    }

    /// - Parameter secrets: as they could be read, if one is set.
    package func secret(_ secrets: Result<SignatureSecrets?, UsageError>) -> [DoctorFinding] {
        switch secrets {
        case .failure(let error):
            return [DoctorFinding(.secret, .failed, "\(error)", cure: "copy it from the API settings of Vonage's dashboard")]
        case .success(nil):
            return [
                DoctorFinding(
                    .secret, .warning, "none is set: webhooks are taken from anybody who knows the address",
                    cure: "set VONAGE_SIGNATURE_SECRET or --signature-secret-file")
            ]
        case .success(let secrets?):
            let warnings = secrets.warnings.map { DoctorFinding(.secret, .warning, $0, cure: "copy it anew from Vonage's dashboard") }
            return warnings.isEmpty ? [DoctorFinding(.secret, .ok, "\(secrets), long enough and without stray characters")] : warnings
        }
    }

    // MARK: The clock

    /// The first moment of the year in which this was written, in milliseconds: a clock before it was never set.
    private static let earliest: Int64 = 1_767_225_600_000
    /// By how much another machine's clock may differ, in seconds: its answer has been under way.
    private static let clockTolerance: Int64 = 30

    /// By what the machine itself knows.
    package var clock: DoctorFinding {
        guard now >= Self.earliest else {
            return DoctorFinding(
                .clock, .failed, "the clock was never set: webhooks and tokens would be refused",
                cure: "set it, best by NTP (timedatectl set-ntp true)")
        }
        switch Self.isSynchronized {
        case true?: return DoctorFinding(.clock, .ok, "kept by NTP")
        case false?:
            return DoctorFinding(
                .clock, .warning, "nothing keeps it right: webhooks are refused once it is \(settings.webhookLeeway) s off",
                cure: "start NTP (timedatectl set-ntp true), on the host where this is a container")
        case nil: return DoctorFinding(.clock, .ok, "shows a possible time; who keeps it cannot be told here")
        }
    }

    /// Beside a server's `Date`.
    ///
    /// - Parameter date: the value of the field, and when it came in milliseconds since 1970.
    package func clock(beside date: (field: String, at: Int64), of whom: String) -> DoctorFinding? {
        guard let theirs = Self.seconds(httpDate: date.field) else { return nil }
        let ahead = date.at / 1000 - theirs
        guard ahead.magnitude > Self.clockTolerance.magnitude else {
            return DoctorFinding(.clock, .ok, "agrees with the clock of \(whom)")
        }
        return DoctorFinding(
            .clock, .failed, "is \(ahead.magnitude) s \(ahead > 0 ? "ahead of" : "behind") the clock of \(whom)",
            cure: "set it, best by NTP (timedatectl set-ntp true)")
    }

    /// Seconds since 1970 of an IMF-fixdate (RFC 9110 §5.6.7).
    private static func seconds(httpDate text: String) -> Int64? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: parts[2]) else { return nil }
        return LogTime.milliseconds("\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z").map { $0 / 1000 }
    }

    /// Whether the kernel says that somebody keeps its clock right; nil where that cannot be asked.
    private static var isSynchronized: Bool? {
        #if os(Linux)
            let state = switchboard_clock_is_synchronized()
            return state < 0 ? nil : state == 1
        #else
            return nil
        #endif
    }

    // MARK: Files

    package var flows: [DoctorFinding] {
        let folder = settings.nccos ?? Settings.defaultFlowFolder
        var facts = stat()
        if settings.nccos == nil, stat(folder, &facts) != 0, errno == ENOENT {
            return [DoctorFinding(.flows, .ok, "there is no folder \(folder), so the built-in flow serves")]
        }
        let report: LintReport
        do throws(UsageError) {
            report = try LintReport(paths: [folder]) { () throws(SmallFileError) in [] }
        } catch {
            return [DoctorFinding(.flows, .failed, "\(error)", cure: "name the folder of your flows with --nccos")]
        }
        let cure = "run switchboard lint \(printable(folder))"
        func first(_ severity: Severity) -> String { report.findings.first { $0.finding.severity == severity }?.description ?? "" }
        if report.count(.error) > 0 {
            return [DoctorFinding(.flows, .failed, "\(report.count(.error)) errors, the first: \(first(.error))", cure: cure)]
        }
        if report.count(.warning) > 0 {
            return [DoctorFinding(.flows, .warning, "\(report.count(.warning)) warnings, the first: \(first(.warning))", cure: cure)]
        }
        return [DoctorFinding(.flows, .ok, "\(folder): \(report.files) files without a fault")]
    }

    /// Synced so often, of which the middle counts.
    private static let syncs = 5
    /// A sync above it makes events wait noticeably, in microseconds; Vonage's own limit for an event is seconds.
    private static let slowSync: Int64 = 100_000
    /// With less room than this the log will soon be full, in bytes.
    private static let littleRoom: UInt64 = 256 * 1024 * 1024

    package var events: [DoctorFinding] {
        let folder = settings.events
        var facts = stat()
        guard stat(folder, &facts) == 0 else {
            guard errno == ENOENT else { return [failed("\(folder) cannot be looked at: \(String(cString: strerror(errno)))")] }
            let parent = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
            guard access(parent, W_OK) == 0 else {
                return [failed("\(folder) is not there, and cannot be made: \(String(cString: strerror(errno)))")]
            }
            return [DoctorFinding(.events, .ok, "\(printable(folder)) is not there yet; the start makes it")]
        }
        guard facts.st_mode & S_IFMT == S_IFDIR else { return [failed("\(folder) is no folder")] }
        let time: Int64
        switch Self.syncTime(in: folder) {
        case .failure(let error): return [failed("\(folder): \(error.description)")]
        case .success(let micros): time = micros
        }
        var findings: [DoctorFinding] = []
        let shown = "\(time / 1000).\(time % 1000 / 100) ms"
        if time > Self.slowSync {
            findings.append(
                DoctorFinding(
                    .events, .warning, "\(printable(folder)) can be written, but a sync takes \(shown)",
                    cure: "put it on a local disk, or let events count as kept before with --sync interval=200ms"))
        } else {
            findings.append(DoctorFinding(.events, .ok, "\(printable(folder)) can be written; a sync takes \(shown)"))
        }
        var room = statvfs()
        if statvfs(folder, &room) == 0 {
            let free = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize)).partialValue
            if free < Self.littleRoom {
                findings.append(
                    DoctorFinding(
                        .events, .warning, "only \(free >> 20) MiB are free there",
                        cure: "make room, or limit what is kept with --keep-size"))
            }
        }
        return findings
    }

    private func failed(_ text: String) -> DoctorFinding {
        DoctorFinding(
            .events, .failed, printableText(text), cure: "name a folder that this user can write to with --events, on a disk with room")
    }

    /// The middle of several times that a small write takes to be on the disk, in microseconds.
    private static func syncTime(in folder: String) -> Result<Int64, DoctorError> {
        let path = "\(folder)/.doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return .failure(DoctorError("a file cannot be made in it: \(String(cString: strerror(errno)))")) }
        defer {
            close(descriptor)
            unlink(path)
        }
        let bytes = [UInt8](repeating: 0x20, count: 512)
        var times: [Int64] = []
        for _ in 0..<syncs {
            let began = Clock.system.monotonic()
            guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
                return .failure(DoctorError("a file in it cannot be written: \(String(cString: strerror(errno)))"))
            }
            times.append(Clock.system.monotonic() - began)
        }
        return .success(times.sorted()[times.count / 2])
    }
}

private struct DoctorError: Error {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Without quotes around it, as it stands inside of a sentence.
private func printableText(_ text: String) -> String { String(printable(text).dropFirst().dropLast()) }
