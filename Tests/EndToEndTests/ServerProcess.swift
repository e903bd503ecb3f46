// SPDX-License-Identifier: MIT
//
// The built `switchboard` as a process, with nothing in its environment but what a test gives it. Waiting for its first lines is a read with a
// time limit, waiting for its end a semaphore with one.

import Dispatch
import Foundation
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

final class ServerProcess {
    struct End {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Beside the test bundle, where the build puts all products.
    private static var product: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
        let isBundle = bundle.bundlePath.hasSuffix(".xctest")
        return (isBundle ? bundle.bundleURL.deletingLastPathComponent() : bundle.bundleURL).appendingPathComponent("switchboard")
    }

    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let (outputPipe, errorPipe) = (Pipe(), Pipe())
    private var output: [UInt8] = []
    private var errors: [UInt8] = []
    private var isOver = false
    /// Of the server, also where a shell stands in between.
    private(set) var pid: pid_t
    private(set) var port: UInt16 = 0

    /// - Parameter shell: what runs first; `"$0" "$@"` is the server with its arguments. If it prints `pid N`, that is the server.
    init(_ arguments: [String], environment: [String: String] = [:], shell: String? = nil) throws {
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", shell, Self.product.path] + arguments
        } else {
            process.executableURL = Self.product
            process.arguments = arguments
        }
        var standard = ["PATH": "/usr/bin:/bin", "POLLER": PollerKind.underTest.rawValue]
        // A sanitizer's settings are for every process that was built with it.
        standard["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
        process.environment = environment.merging(standard) { given, _ in given }
        process.currentDirectoryURL = FileManager.default.temporaryDirectory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        let ended = ended
        process.terminationHandler = { _ in ended.signal() }
        pid = 0
        try process.run()
        pid = process.processIdentifier
    }

    /// Runs a command to its end.
    /// What a start prints on standard error where webhooks are not signed.
    static let openWarning = "warning: no signature secret is set, so webhooks are taken from anybody (--signature-secret-file)\n"

    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> End {
        let command = try ServerProcess(arguments, environment: environment)
        defer { command.kill() }
        return try command.wait()
    }

    /// Reads what the server prints at its start, up to its port.
    func waitForStart() throws {
        let mark = "listens on "
        // Where lines are for machines, those of the start are errors' neighbours.
        let onErrors = process.arguments?.contains("json") ?? false
        let started = try read(onErrors: onErrors) { $0.contains(mark) && $0.contains("  try ") }
        if let line = started.components(separatedBy: "\n").first(where: { $0.hasPrefix("pid ") }), let number = pid_t(line.dropFirst(4)) {
            pid = number
        }
        guard let place = started.range(of: mark) else { return }
        let address = started[place.upperBound...].prefix { $0 != "\n" && $0 != " " }
        port = UInt16(address.reversed().prefix { $0.isNumber }.reversed().map(String.init).joined()) ?? 0
    }

    /// All output so far, once it is as wished.
    @discardableResult
    func read(onErrors: Bool = false, until isEnough: (String) -> Bool) throws -> String {
        while true {
            let text = String(decoding: onErrors ? errors : output, as: UTF8.self)
            if isEnough(text) { return text }
            let hasMore =
                onErrors
                ? readMore(errorPipe, milliseconds: 60_000, into: &errors) : readMore(outputPipe, milliseconds: 60_000, into: &output)
            guard hasMore else {
                while readMore(errorPipe, milliseconds: 0, into: &errors) {}
                throw ClientError(description: "the process printed \(text) and \(String(decoding: errors, as: UTF8.self))")
            }
        }
    }

    private func readMore(_ pipe: Pipe, milliseconds: Int32, into bytes: inout [UInt8]) -> Bool {
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Foundation.read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        bytes += chunk[..<count]
        return true
    }

    func signal(_ number: Int32) { _ = Foundation.kill(pid, number) }

    /// Waits for the end, and reads what was printed. The pipes may be held open by others, so their end is not waited for.
    func wait(seconds: Int = 60) throws -> End { try wait(milliseconds: seconds * 1000) }

    func wait(milliseconds: Int) throws -> End {
        guard ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else {
            throw ClientError(description: "the process did not end in \(milliseconds) ms")
        }
        isOver = true
        while readMore(outputPipe, milliseconds: 0, into: &output) {}
        while readMore(errorPipe, milliseconds: 0, into: &errors) {}
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        // Said at each start with the other poller, which is what a second run of these tests asks for.
        let lines = String(decoding: errors, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let told = lines.filter { !$0.hasPrefix("warning: --poller dispatch is for tests here") }.joined(separator: "\n")
        return End(status: status, output: String(decoding: output, as: UTF8.self), errors: told)
    }

    /// Ends it at once, if it still runs.
    func kill() {
        guard !isOver else { return }
        signal(SIGKILL)
        if pid != process.processIdentifier { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
        _ = ended.wait(timeout: .now() + .seconds(60))
        isOver = true
    }

    func client() throws -> Client { try Client(port: port) }
    func ask(_ request: String) throws -> Answer { try client().ask(request) }

    #if os(Linux)
        /// Sockets that are open; Dispatch opens a descriptor for a timer now and then.
        var socketCount: Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
            return names.count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)"))?.hasPrefix("socket:") == true
            }
        }

        /// Processor time so far, in hundredths of a second.
        var ticks: Int {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
            let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
            return fields.count > 13 ? (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0) : -1
        }

        /// The most memory it has held, in KiB.
        var peakMemory: Int {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
            let line = text.components(separatedBy: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            return Int(line.filter(\.isNumber)) ?? -1
        }
    #endif
}

/// Lends a started server that keeps its events in `folder`, or in a new one.
func withProcess<Result>(
    _ flags: [String] = [], environment: [String: String] = [:], folder: String? = nil, shell: String? = nil,
    _ body: (ServerProcess) throws -> Result
) throws -> Result {
    guard let folder else {
        return try withFolder { try withProcess(flags, environment: environment, folder: $0, shell: shell, body) }
    }
    let arguments = ["serve", "--host", "127.0.0.1", "--port", "0", "--number", TestServer.ourNumber, "--events", folder] + flags
    let server = try ServerProcess(arguments, environment: environment, shell: shell)
    defer { server.kill() }
    try server.waitForStart()
    return try body(server)
}
