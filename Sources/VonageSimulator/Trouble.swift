// SPDX-License-Identifier: MIT
//
// Trouble on demand: what a client must live with, at will and one request in so many. It is counted and not drawn, so that a run can be
// repeated. What a gateway refuses reaches nobody and changes nothing; an answer that is lost on its way has been made, and the client does not
// know of it: that is the worse kind.

package import HTTPWire

package struct Trouble: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// 429 with Retry-After, 500 or 503, as the API spells it.
        case status(Status)
        /// A page of HTML where JSON should be, with 502 or 200.
        case page(Status)
        /// The answer's status with nothing behind it.
        case empty
        /// Half of the answer's body, then the end of the connection.
        case cut
        /// The answer, after so many milliseconds.
        case slow(Int64)
    }

    /// Those that come, one after the other and again from the first.
    package let kinds: [Kind]
    /// One request in so many has it, the last of each round.
    package let every: Int

    /// Milliseconds that an answer can be slow.
    package static let longest: Int64 = 600_000
    package static let rounds = 1...1_000_000

    /// - Throws: what is wrong with the list, and what would be right.
    package init(_ list: String, every: Int = 1) throws(SimulatorError) {
        guard Self.rounds.contains(every) else { throw SimulatorError("one in \(every) is none; it is a number from 1 to 1000000") }
        var kinds: [Kind] = []
        for name in list.split(separator: ",", omittingEmptySubsequences: false) {
            switch name {
            case "429": kinds.append(.status(.tooManyRequests))
            case "500": kinds.append(.status(.internalServerError))
            case "503": kinds.append(.status(.serviceUnavailable))
            case "html": kinds.append(.page(.badGateway))
            case "html=200": kinds.append(.page(.ok))
            case "empty": kinds.append(.empty)
            case "cut": kinds.append(.cut)
            default:
                guard name.hasPrefix("slow="), let time = try? duration(name.dropFirst(5), in: 0...Self.longest) else {
                    throw SimulatorError("trouble is a list of 429, 500, 503, html, html=200, empty, cut and slow=30s (at most 600s)")
                }
                kinds.append(.slow(time))
            }
        }
        guard kinds.count <= 100 else { throw SimulatorError("a list of trouble has at most 100 kinds") }
        self.kinds = kinds
        self.every = every
    }

    /// Of all kinds, in milliseconds; 0 where none is slow.
    package var longestDelay: Int64 {
        kinds.map { kind in if case .slow(let time) = kind { time } else { 0 } }.max() ?? 0
    }
}

/// Counts requests, and says which has trouble.
struct TroublePlan: Sendable {
    private let trouble: Trouble?
    private var requests = 0
    private var given = 0

    init(_ trouble: Trouble?) { self.trouble = trouble }

    mutating func next() -> Trouble.Kind? {
        guard let trouble, !trouble.kinds.isEmpty else { return nil }
        requests += 1
        guard requests >= trouble.every else { return nil }
        requests = 0
        defer { given = (given + 1) % trouble.kinds.count }
        return trouble.kinds[given]
    }
}

extension Trouble.Kind {
    /// The answer of whoever stands in front; nil where the request gets through.
    func instead(_ family: APIFamily, trace: String) -> Response? {
        switch self {
        case .status(.tooManyRequests): APIProblem.tooManyRequests("You sent too many requests.").response(family, trace: trace)
        case .status(let status):
            APIProblem(status, "system:error:internal-error", "An internal error occurred.").response(family, trace: trace)
        case .page(let status):
            Response(
                status, contentType: .html,
                body: Array(
                    "<html>\r\n<head><title>\(status.rawValue) \(status.reason)</title></head>\r\n<body></body>\r\n</html>\r\n".utf8))
        case .empty, .cut, .slow: nil
        }
    }

    /// What becomes of an answer on its way.
    func spoil(_ answer: inout SimulatedAnswer) {
        switch self {
        case .status, .page: break
        case .empty: answer.response.body = []
        case .slow(let time): answer.delay = time
        case .cut:
            var body = answer.response.body
            if body.isEmpty {
                // What has no body cannot be cut in it.
                answer.response.status = .ok
                body = Array("{}".utf8)
            }
            answer.response.body = Array(body.prefix(max(body.count / 2, 1)))
            answer.response.missingBytes = body.count - answer.response.body.count
            answer.response.close = true
        }
    }
}
