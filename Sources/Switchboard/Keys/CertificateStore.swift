// SPDX-License-Identifier: MIT
//
// The certificate that is served, and its renewal: the two files are looked at twice a second, and a pair that is good replaces the one before
// for connections to come. Tools write one file after the other, and a pair read in between does not match; so a change counts once it has
// stayed the same for one look. A pair that is not good never replaces one that serves: it is said once, and by health for as long as it lasts.

import Dispatch
package import HTTPServer
import HTTPWire
import Locking
import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package final class CertificateStore: Sendable {
    private struct State {
        var context: TLSContext
        /// Of the files when they were read.
        var read: FilesSignature
        /// What the last look saw, if that was something else.
        var seen: FilesSignature?
        var problem: String?
        /// Somebody has been told that the one that serves is over.
        var hasToldEnd = false
    }

    /// Of each file: a key has some 2 KB in PEM, a certificate with its chain some 6.
    private static let largest = 256 * 1024

    private let certificate: String
    private let key: String
    private let state: Locked<State>
    private let clock: Clock
    private let queue = DispatchQueue(label: "certificate", qos: .utility)
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    /// Called on the queue for each line that somebody should read.
    private let report: @Sendable (String) -> Void
    private let replace = Locked<(@Sendable (TLSContext) -> Void)?>(nil)

    /// Reads the pair that the settings name; nil where they name none.
    ///
    /// - Throws: `UsageError` in one line, where it cannot serve.
    package init?(_ settings: Settings, clock: Clock = .system, report: @escaping @Sendable (String) -> Void) throws(UsageError) {
        guard let certificate = settings.tlsCertificateFile, let key = settings.tlsKeyFile else { return nil }
        (self.certificate, self.key) = (certificate, key)
        self.clock = clock
        self.report = report
        let signature = Self.signature(certificate, key)
        let context = try Self.read(certificate, key, clock)
        state = Locked(State(context: context, read: signature))
    }

    /// The pair that serves.
    package var current: TLSContext { state.withLock { $0.context } }

    /// What is wrong with the files, or with the certificate that serves; nil where nothing is.
    package var problem: String? {
        let (problem, context) = state.withLock { ($0.problem, $0.context) }
        if let problem { return problem }
        guard clock.wall() / 1000 > context.expires else { return nil }
        return "\(shownPath(certificate)): it has expired on \(context.lastDay); renew it"
    }

    /// What a start should warn of; nil where the certificate lives on for a week.
    package var warning: String? {
        let context = current
        guard context.expires - clock.wall() / 1000 < 7 * 86_400 else { return nil }
        return "\(shownPath(certificate)): it expires on \(context.lastDay); renew it"
    }

    /// For the banner.
    package var summary: String {
        let context = current
        let names = context.names.isEmpty ? "no name" : context.names.count > 200 ? "\(context.names.prefix(200))…" : context.names
        return "\(names), until \(context.lastDay)"
    }

    /// Looks twice a second from now on.
    ///
    /// - Parameter replace: is given each pair that shall serve from then on.
    package func watch(_ replace: @escaping @Sendable (TLSContext) -> Void) {
        self.replace.withLock { $0 = replace }
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(500), leeway: .milliseconds(50))
        source.setEventHandler { [weak self] in self?.look() }
        source.activate()
        timer.withLock { $0 = source }
    }

    /// Reads the files now, if they have changed at all or do not serve.
    package func reload() {
        queue.async {
            let signature = Self.signature(self.certificate, self.key)
            let isKnown = self.state.withLock { $0.read == signature && $0.problem == nil }
            if !isKnown { self.load(signature) }
        }
    }

    /// Reads the files if they have changed and stayed so since the last look, or do not serve yet; for tests, and on the queue.
    func look() {
        let signature = Self.signature(certificate, key)
        let isSettled = state.withLock { state in
            guard signature != state.read else {
                state.seen = nil
                // What cannot serve now may do so later as it is: one that is not valid yet, say.
                return state.problem != nil
            }
            defer { state.seen = signature }
            return state.seen == signature
        }
        if isSettled { load(signature) }
        tellEnd()
    }

    private func tellEnd() {
        guard let problem else { return }
        let isNew = state.withLock { state in
            guard state.problem == nil else { return false }
            defer { state.hasToldEnd = true }
            return !state.hasToldEnd
        }
        if isNew { report("tls: \(problem)") }
    }

    private func load(_ signature: FilesSignature) {
        do throws(UsageError) {
            let context = try Self.read(certificate, key, clock)
            // What is dropped is dropped behind the lock.
            let before = state.withLock { state in
                defer {
                    (state.context, state.read, state.seen, state.problem) = (context, signature, nil, nil)
                    state.hasToldEnd = false
                }
                return state.context
            }
            withExtendedLifetime(before) {}
            replace.withLock { $0 }?(context)
            report("tls: the certificate was read anew: \(summary)")
        } catch {
            let isNew = state.withLock { state in
                defer { (state.read, state.seen, state.problem) = (signature, nil, error.description) }
                return state.problem != error.description
            }
            if isNew { report("tls: \(error); the certificate from before goes on being served") }
        }
    }

    private static func read(
        _ certificate: String, _ key: String, _ clock: Clock
    ) throws(UsageError) -> TLSContext {
        let pem = try bytes(of: certificate, "--tls-cert")
        let text = try bytes(of: key, "--tls-key")
        let der: [UInt8]
        do throws(KeyError) { der = try serverKey(in: text) } catch { throw UsageError("--tls-key: \(shownPath(key)): \(error)") }
        do throws(TLSPairError) {
            // With tickets of its own: whoever has taken the old key must not be able to take up sessions of the new one.
            return try TLSContext(certificate: pem, key: der, tickets: TicketKeys(clock: clock), now: clock.wall() / 1000)
        } catch {
            switch error.part {
            case .certificate: throw UsageError("--tls-cert: \(shownPath(certificate)): \(error)")
            case .key: throw UsageError("--tls-key: \(shownPath(key)): \(error)")
            }
        }
    }

    private static func bytes(of path: String, _ flag: String) throws(UsageError) -> [UInt8] {
        do throws(SmallFileError) { return try readSmallFile(path, limit: largest) } catch {
            throw UsageError("\(flag): \(shownPath(path)): it cannot be read: \(error)")
        }
    }

    private static func signature(_ certificate: String, _ key: String) -> FilesSignature {
        FilesSignature([certificate, key].compactMap { FilesSignature.Entry(name: $0, path: $0) })
    }
}
