// SPDX-License-Identifier: MIT
//
// How many calls may be made. Vonage takes three new calls a second from an account, and each costs its owner something: one user, or a
// fault in an app, must neither use up what the others need nor dial all night. What is counted is each NCCO with a `connect` that is served.

import NCCO

final class CallLimits: Sendable {
    enum Kind: Sendable { case user, all }

    private let perUser: RateLimiter?
    private let all: RateLimiter?

    /// Nil where there is no limit.
    init?(perUser: RateLimit?, all: RateLimit?) {
        guard perUser != nil || all != nil else { return nil }
        self.perUser = perUser.map { RateLimiter($0) }
        self.all = all.map { RateLimiter($0, keys: 1) }
    }

    /// Counts a call, unless it is past a limit: that one is returned.
    ///
    /// The user's comes first, so that who is past it takes nothing from the others. A call that only the limit of all refuses has been counted
    /// for its user.
    ///
    /// - Parameters:
    ///   - party: stands for the user.
    ///   - now: monotonic microseconds.
    func take(_ party: Int, now: Int64) -> Kind? {
        if let perUser, perUser.take(party, now: now) != nil { return .user }
        if let all, all.take(0, now: now) != nil { return .all }
        return nil
    }
}
