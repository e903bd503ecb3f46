// SPDX-License-Identifier: MIT
//
// Why a request to Vonage has no good answer: what happened on the way, or what Vonage said. Vonage's own `code` decides what is meant, the
// status only where there is none: the status of one and the same refusal differs from one of its services to another.

/// Nothing of a token or of an answer's body is in it.
package struct VonageError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// Too many requests wait already; nothing was sent.
        case busy
        /// No token could be made; nothing was sent.
        case noToken
        /// There was no whole answer in time.
        case timeout
        /// There was no connection, none that is safe, or no answer on it.
        case noAnswer
        /// What came cannot be read: no JSON, cut, too long, or JSON that says something else.
        case unreadable
        /// Vonage wants fewer requests, in so many seconds where it says.
        case tooMany(retryAfter: Int?)
        /// Vonage said no. The code is `user:error:not-found` or the like.
        case refused(status: Int, code: String?)
    }

    package let fault: Fault
    /// One line.
    package let description: String

    package init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }

    /// Whether what was asked for is not there.
    package var isNotFound: Bool {
        guard case .refused(let status, let code) = fault else { return false }
        return code.map { $0.hasSuffix(":not-found") } ?? (status == 404)
    }

    /// Whether the name is taken.
    package var isDuplicateName: Bool {
        guard case .refused(let status, let code) = fault else { return false }
        return code.map { $0.hasSuffix(":duplicate-name") } ?? (status == 409)
    }

    /// Whether Vonage did not take a value that was sent.
    package var isInvalid: Bool {
        guard case .refused(_, let code) = fault else { return false }
        return code == "http:error:validation-fail"
    }

    /// Whether the token was not taken, or opens too little.
    package var isAboutToken: Bool {
        guard case .refused(let status, let code) = fault else { return false }
        guard let code else { return status == 401 || status == 403 }
        return code.hasPrefix("system:error:") && (code.hasSuffix("-token") || code.hasSuffix(":permission")) || status == 401
    }
}

extension VonageError {
    init(_ error: WebError, from host: String) {
        switch error.fault {
        case .timeout: self.init(.timeout, "\(host) gave no whole answer in time")
        case .tooLarge: self.init(.unreadable, "\(host) answered with more than is taken")
        case .unreachable: self.init(.noAnswer, "\(host) cannot be reached: \(error.description)")
        case .insecure: self.init(.noAnswer, "the connection to \(host) is not safe: \(error.description)")
        case .busy, .stopped: self.init(.busy, "\(host) was not asked: \(error.description)")
        case .broken, .badURL, .noLibrary: self.init(.noAnswer, "\(host) gave no whole answer: \(error.description)")
        }
    }
}
