// SPDX-License-Identifier: MIT
//
// Webhooks over sockets: on kept connections, from the thread that plays, plain and by TLS with this machine. TLS with another one goes to whoever
// can check its certificate, if anybody.

package import HTTPServer
import Locking
import NCCO

/// Sends what plain HTTP cannot; completes on any thread.
package typealias SecureSender =
    @Sendable (
        _ request: PlayedRequest, _ authorization: String?, _ completion: @escaping @Sendable (PlayedOutcome) -> Void
    ) -> Void

package final class LoopTransport: WebhookTransport {
    /// Where webhooks of a server go instead of to the URL that Vonage knows it by.
    package struct StandIn: Sendable {
        /// Without a slash at its end; a path in it is left out, as a proxy does.
        let url: String
        /// `http://HOST:PORT` of any machine, `https://HOST:PORT` of this one, or `unix:PATH`.
        let instead: String

        package init(url: String, instead: String) {
            self.url = url
            self.instead = instead
        }

        /// Path and query of a request that goes there instead; nil for other URLs.
        func target(_ request: PlayedRequest) -> String? {
            let rest = request.address.url.dropFirst(url.count)
            guard request.address.url.hasPrefix(url), rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?"),
                let path = URLParts(url)?.target
            else { return nil }
            return path == "/" ? request.target : String(request.target.dropFirst(path.count))
        }
    }

    private let loop: HTTPClientLoop
    private let secure: SecureSender?
    /// How far webhooks go.
    package enum Reach: Sendable {
        case anywhere
        /// Nothing goes to another machine, whatever an NCCO names.
        case loopback
        /// Nothing goes anywhere but to the server of `standIn`.
        case standIn
    }

    private let reach: Reach
    private let standIn: StandIn?
    /// Addresses by the origin of a URL.
    private var addresses: [String: HTTPAddress] = [:]
    private static let mostAddresses = 64

    /// Outcomes of secure requests that came on another thread.
    private let arrived = Locked<[(number: Int, outcome: PlayedOutcome)]>([])
    private var awaited: [Int: (PlayedOutcome) -> Void] = [:]
    private var secureCount = 0

    /// - Parameters:
    ///   - connections: most at one time.
    ///   - reach: how far webhooks go; the others fail, and are not sent.
    ///   - secure: nil where https is not to be had; then it fails as TLS.
    ///   - standIn: for one server's URLs, and none other.
    package init(
        connections: Int = 256, poller: PollerKind = .preferred, reach: Reach = .anywhere, standIn: StandIn? = nil,
        secure: SecureSender? = nil
    ) throws {
        self.reach = reach
        self.standIn = standIn
        loop = try HTTPClientLoop(poller: poller, maximumConnections: connections)
        self.secure = secure
    }

    /// Lets a waiting `turn` return at once; for any thread.
    package var waker: Waker { loop.waker }

    package func turn(milliseconds: Int32) {
        loop.turn(milliseconds: milliseconds)
        guard !awaited.isEmpty else { return }
        let outcomes = arrived.withLock { arrived in
            defer { arrived = [] }
            return arrived
        }
        for (number, outcome) in outcomes { awaited.removeValue(forKey: number)?(outcome) }
    }

    package func send(
        _ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void
    ) {
        guard let parts = URLParts(request.address.url) else { return then(.failure(.invalidURL, micros: 0)) }
        let ownTarget = standIn?.target(request)
        if parts.isTLS, ownTarget == nil, (try? HTTPAddress(url: parts.origin)) == nil {
            if reach != .anywhere { return then(.failure(.notLoopback, micros: 0)) }
            return sendSecurely(request, authorization, isCut, then)
        }
        let origin = ownTarget == nil ? parts.origin : standIn?.instead ?? parts.origin
        let address: HTTPAddress
        if let known = addresses[origin] {
            address = known
        } else {
            do throws(HTTPRequestError) { address = try HTTPAddress(url: origin) } catch {
                return then(.failure(.invalidURL, micros: 0))
            }
            let isInReach = ownTarget != nil || reach == .anywhere || reach == .loopback && address.isLoopback
            guard isInReach else { return then(.failure(.notLoopback, micros: 0)) }
            if addresses.count >= Self.mostAddresses { addresses = [:] }
            addresses[origin] = address
        }
        let sent = HTTPClientLoop.Request(
            method: request.address.method.rawValue, target: ownTarget ?? request.target, authorization: authorization, body: request.body,
            connectMilliseconds: request.connectLimit, responseMilliseconds: request.answerLimit, cut: isCut)
        loop.send(sent, to: address) { result in then(PlayedOutcome(result)) }
    }

    private func sendSecurely(
        _ request: PlayedRequest, _ authorization: String?, _ isCut: Bool, _ then: @escaping (PlayedOutcome) -> Void
    ) {
        guard let secure else { return then(.failure(.tls, micros: 0)) }
        // Half a request cannot be sent there; what Vonage sees of it is the same.
        guard !isCut else { return then(.failure(.closed, micros: 0)) }
        secureCount += 1
        let number = secureCount
        awaited[number] = then
        let (arrived, waker) = (arrived, loop.waker)
        secure(request, authorization) { outcome in
            arrived.withLock { $0.append((number, outcome)) }
            waker.wake()
        }
    }
}

extension PlayedOutcome {
    fileprivate init(_ result: HTTPClientLoop.Result) {
        switch result {
        case .answer(let answer, let micros):
            self = .reply(
                PlayedReply(
                    status: answer.status, contentType: answer.field("content-type"), body: answer.body,
                    rule: answer.field("x-switchboard-flow"), warning: answer.field("x-switchboard-warning"), micros: micros))
        case .failed(let failure, let micros):
            let why: PlayedFailure =
                switch failure {
                case .unresolved: .unresolved
                case .refused: .refused
                case .connectTimeout: .connectTimeout
                case .responseTimeout: .responseTimeout
                case .tls: .tls
                case .closed, .cut: .closed
                case .notHTTP: .notHTTP
                case .tooLarge: .tooLarge
                }
            self = .failure(why, micros: micros)
        }
    }
}
