// SPDX-License-Identifier: MIT
//
// Why somebody gets no user, room or token, and the answer that this deserves. Its words are ours alone, so that they can be sent to anybody;
// what the log should know besides is kept apart. No answer made of it has a member that an app would take for what it asked for.

import EventLog
import HTTPWire
import VonageAPI
import VonageAuth

package struct AppError: Error, Sendable, CustomStringConvertible {
    let status: Status
    /// One line of fixed words.
    let detail: String
    /// Seconds.
    var retryAfter: Int?
    /// For the log; nil where there is nothing to be mended here.
    var cause: String?

    init(_ status: Status, _ detail: String, retryAfter: Int? = nil, cause: String? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// Whether it is Vonage's trouble, or this machine's, and not that of what was asked.
    package var isUpstream: Bool { status.rawValue >= 500 }

    package var description: String { cause.map { "\(detail) (\($0))" } ?? detail }

    var response: Response {
        var fields = FieldBlock()
        if let retryAfter { fields.append("Retry-After", "\(retryAfter)") }
        return .problem(status, detail, fields: fields)
    }

    static let busy = AppError(
        .serviceUnavailable, "Too many requests for users, rooms and tokens are under way; try again.", retryAfter: 1)
    static let noSuchUser = AppError(
        .notFound, "There is no such user; make it with POST /users or switchboard users create. A user's id, USR-…, is not its name.")
}

extension AppError {
    init(_ error: VonageError) {
        let cause = error.description
        switch error.fault {
        case .busy:
            self.init(.serviceUnavailable, "Too many requests to Vonage wait already; try again.", retryAfter: 1, cause: cause)
        case .noToken: self.init(.serviceUnavailable, "No token for Vonage could be made; the server's log says why.", cause: cause)
        case .timeout: self.init(.gatewayTimeout, "Vonage gave no answer in time; try again.", cause: cause)
        case .noAnswer: self.init(.badGateway, "Vonage cannot be reached; the server's log says why.", cause: cause)
        case .unreadable: self.init(.badGateway, "What Vonage answered cannot be read; the server's log says more.", cause: cause)
        case .tooMany(let seconds):
            // A day is more than anybody waits for.
            self.init(
                .serviceUnavailable, "Vonage takes no more requests for now; try again.", retryAfter: min(seconds ?? 1, 86_400),
                cause: cause)
        case .refused where error.isAboutToken:
            self.init(
                .badGateway,
                "Vonage does not take this server's token: --application-id and --private-key-file must belong together, and the clock be right.",
                cause: cause)
        case .refused where error.isInvalid: self.init(.badRequest, "Vonage does not take this value.", cause: cause)
        case .refused: self.init(.badGateway, "Vonage refused the request; the server's log says more.", cause: cause)
        }
    }

    /// Lifetimes and names are looked at before: what is left is this machine's fault.
    init(_ error: TokenError) {
        self.init(.serviceUnavailable, "No token could be made; the server's log says why.", cause: error.description)
    }

    init(_ error: KeptLinesError) {
        switch error.fault {
        case .full:
            self.init(
                .serviceUnavailable, "No more rooms are kept; move rooms.jsonl away and start the server anew.", cause: error.description)
        case .disk:
            self.init(
                .serviceUnavailable, "The room could not be kept; the server's log says why.", retryAfter: 1, cause: error.description)
        }
    }
}
