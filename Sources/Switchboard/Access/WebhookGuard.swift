// SPDX-License-Identifier: MIT
//
// Which webhooks are taken: with a signature secret those that are signed with it, without one all. What all workers share of that is here: what
// is asked for, how often what was refused, and whether this machine's clock seems to be wrong. A webhook that is taken touches two atomics and no
// lock; one that is refused may.

import Locking
import NCCO
import Synchronization
package import VonageAuth

/// How a webhook came to be taken; a member of its record.
enum WebhookSignature: Sendable {
    /// Its token was checked.
    case verified
    /// It had none, and was taken all the same.
    case missing
    /// No secret is set.
    case off

    var member: StaticString {
        switch self {
        case .verified: #","signature":"verified""#
        case .missing: #","signature":"missing""#
        case .off: #","signature":"off""#
        }
    }
}

/// What is done with a webhook that has no token. Vonage calls such a delivery a rare fault of its own, which it tries once more on 5xx.
package enum UnsignedPolicy: String, Sendable, CaseIterable {
    case accept, retry, refuse
}

package final class WebhookGuard: Sendable {
    package let verifier: WebhookVerifier
    let unsigned: UnsignedPolicy

    private struct Refusals {
        /// By reason.
        var counts: [String: Int] = [:]
        /// By reason: when it was last told (monotonic ms), and how many were not since.
        var told: [String: (at: Int64, silent: Int)] = [:]
    }

    private let refusals = Locked(Refusals())
    /// Webhooks with the right signature and the wrong time, since the last that was taken.
    private let staleInARow = Atomic<Int>(0)
    /// The last of them: seconds by which its token was too old, and when it was issued.
    private let staleBy = Atomic<Int64>(0)
    private let staleIssue = Atomic<Int64>(0)
    /// When a changed body may next be looked into (monotonic ms).
    private let nextLook = Atomic<Int64>(.min)

    /// So many in a row are no old request but a clock that is wrong, and with a wrong clock every call is lost.
    static let staleLimit = 10
    /// A changed body is looked into this often at most (ms), and only up to this length: it costs a hash for each usual change.
    private static let lookPause: Int64 = 60_000
    private static let longestLook = 16 * 1024
    /// Each reason is told this often at most where no line is printed for each webhook (ms).
    private static let tellPause: Int64 = 10_000

    /// - Throws: where OpenSSL cannot do what is needed: better at the start than with the first call.
    package init(_ verifier: WebhookVerifier, unsigned: UnsignedPolicy) throws(CryptographyError) {
        self.verifier = verifier
        self.unsigned = unsigned
        _ = try WebhookChecker(verifier)
    }

    /// A webhook's signature was right.
    func taken() {
        // Written only where there is something to write: all workers read it.
        if staleInARow.load(ordering: .relaxed) != 0 { staleInARow.store(0, ordering: .relaxed) }
    }

    /// Counts a refusal.
    ///
    /// - Parameters:
    ///   - wall: seconds since 1970.
    ///   - now: monotonic milliseconds.
    /// - Returns: how many of its kind were not told since the last that was, if this one is to be told.
    func refused(_ refusal: WebhookRefusal, wall: Int64, now: Int64) -> Int? {
        // One old token that is sent again and again says nothing of our clock.
        if case .stale(let seconds, _) = refusal, wall - seconds > staleIssue.load(ordering: .relaxed) {
            staleIssue.store(wall - seconds, ordering: .relaxed)
            staleBy.store(seconds, ordering: .relaxed)
            staleInARow.add(1, ordering: .relaxed)
        }
        return refusals.withLock { refusals in
            refusals.counts[refusal.name, default: 0] += 1
            guard let last = refusals.told[refusal.name], now &- last.at < Self.tellPause else {
                let silent = refusals.told[refusal.name]?.silent ?? 0
                refusals.told[refusal.name] = (now, 0)
                return silent
            }
            refusals.told[refusal.name] = (last.at, last.silent + 1)
            return nil
        }
    }

    /// Whether a changed payload of this length may be looked into now.
    func mayLookInto(bytes: Int, now: Int64) -> Bool {
        let next = nextLook.load(ordering: .relaxed)
        guard bytes <= Self.longestLook, now >= next else { return false }
        return nextLook.compareExchange(expected: next, desired: now &+ Self.lookPause, ordering: .relaxed).exchanged
    }

    /// By reason, sorted.
    var counts: [(reason: String, count: Int)] {
        refusals.withLock { $0.counts }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// What is wrong while no webhook's time is believed; nil while all is well.
    var problem: String? {
        guard staleInARow.load(ordering: .relaxed) >= Self.staleLimit else { return nil }
        let seconds = staleBy.load(ordering: .relaxed)
        return
            "webhooks are refused for their time: this machine's clock seems to be \(seconds.magnitude) s \(seconds > 0 ? "ahead" : "behind"); set it, or --webhook-leeway"
    }
}

extension SignatureSecrets {
    /// Longest file of secrets, in bytes.
    private static let largestFile = 128 * 1024

    /// From a file that a flag names, else from the environment; nil where neither has one.
    ///
    /// - Parameter flag: which one, for errors.
    package init?(
        file: String?, environment: [String: String], flag: String = "--signature-secret-file"
    ) throws(UsageError) {
        let (text, source): (String, String)
        if let path = file {
            do throws(SmallFileError) {
                text = String(decoding: try readSmallFile(path, limit: Self.largestFile, mayBePipe: true), as: UTF8.self)
            } catch {
                throw UsageError("\(flag): \(shownPath(path)) cannot be read: \(error)")
            }
            source = "\(flag): \(shownPath(path))"
        } else if let secret = environment["VONAGE_SIGNATURE_SECRET"], !secret.isEmpty {
            (text, source) = (secret, "VONAGE_SIGNATURE_SECRET")
        } else {
            return nil
        }
        do throws(SignatureSecretsError) { try self.init(text) } catch { throw UsageError("\(source): \(error)") }
    }
}
