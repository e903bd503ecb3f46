// SPDX-License-Identifier: MIT
//
// Requests to other servers, by libcurl. It follows no redirect, keeps no cookie, takes no answer above a size and waits for none beyond a time;
// whatever a peer does becomes an answer or an error value. Requests are performed on threads of Dispatch's, of which it takes a few: nothing
// of it runs on a worker.
//
// URLSession of Foundation's, which on Linux is made of libcurl too, would be the common choice; linked into the binary it doubled the time of a
// start (10 ms to 21 ms) and the memory of a server that asks nobody (13 MiB to 24 MiB), whether it is used or not.

import Dispatch
import Locking

/// One request.
package struct WebRequest: Sendable {
    package var method: String
    /// `http` or `https`.
    package var url: String
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]?
    /// For all of it, the answer's body included.
    package var milliseconds: Int
    /// Bytes of the answer's body.
    package var maximumAnswer: Int

    package init(
        _ method: String, _ url: String, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil, milliseconds: Int = 10_000,
        maximumAnswer: Int = 1024 * 1024
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.milliseconds = milliseconds
        self.maximumAnswer = maximumAnswer
    }
}

/// What a server answered, whatever its status.
package struct WebAnswer: Sendable {
    package let status: Int
    /// Names in lower case; of several the last.
    package let fields: [String: String]
    package let body: [UInt8]

    package init(status: Int, fields: [String: String], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// Why there is no answer.
package struct WebError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// The URL is none, or of another scheme.
        case badURL
        /// There is no libcurl here.
        case noLibrary
        /// No connection came about: nothing was done there.
        case unreachable
        /// The certificate or the handshake is not right.
        case insecure
        case timeout
        case tooLarge
        /// More requests wait than may, or the client was stopped.
        case busy, stopped
        /// The connection broke, or what came is no HTTP.
        case broken
    }

    package let fault: Fault
    /// One line; nothing of the request's fields or body is in it.
    package let description: String

    package init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}

package final class WebClient: Sendable {
    /// Requests under way at once, each on a thread.
    private static let atOnce = 8
    /// Requests that may wait for one of these.
    private static let mostWaiting = 256

    private struct Job: Sendable {
        let request: WebRequest
        let began: DispatchTime
        let completion: @Sendable (Result<WebAnswer, WebError>) -> Void
    }

    private struct State: Sendable {
        var waiting: [Job] = []
        var threads = 0
        /// With the connections that they keep open.
        var spare: [CurlLibrary.Handle] = []
        var isStopped = false
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "switchboard.web-client", attributes: .concurrent)

    package init() {}

    /// Ends what is under way and what waits; the client cannot be used afterwards.
    package func stop() {
        let waiting = state.withLock { state in
            state.isStopped = true
            state.spare = []
            defer { state.waiting = [] }
            return state.waiting
        }
        for job in waiting { job.completion(.failure(WebError(.stopped, "it was stopped"))) }
    }

    /// Sends a request; `completion` is called once, on a thread of Dispatch's, or at once where nothing can be sent.
    package func send(_ request: WebRequest, completion: @escaping @Sendable (Result<WebAnswer, WebError>) -> Void) {
        let scheme = request.url.prefix(8).lowercased()
        guard scheme.hasPrefix("http://") || scheme == "https://", request.url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return completion(.failure(WebError(.badURL, "this is no http or https URL")))
        }
        guard request.fields.allSatisfy({ !("\($0.name)\($0.value)").utf8.contains { $0 < 0x20 && $0 != 0x09 } }) else {
            return completion(.failure(WebError(.badURL, "a field holds a control character")))
        }
        let job = Job(request: request, began: .now(), completion: completion)
        let (refusal, needsThread) = state.withLock { state -> (WebError?, Bool) in
            if state.isStopped { return (WebError(.stopped, "it was stopped"), false) }
            guard state.waiting.count < Self.mostWaiting else {
                return (WebError(.busy, "\(Self.mostWaiting) requests wait already"), false)
            }
            state.waiting.append(job)
            guard state.threads < Self.atOnce else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        if let refusal { return completion(.failure(refusal)) }
        if needsThread { queue.async { self.work() } }
    }

    package func send(_ request: WebRequest) async throws(WebError) -> WebAnswer {
        let result = await withCheckedContinuation { continuation in send(request) { continuation.resume(returning: $0) } }
        return try result.get()
    }

    /// For commands, which have nothing else to do meanwhile.
    package func sendAndWait(_ request: WebRequest) throws(WebError) -> WebAnswer {
        let done = DispatchSemaphore(value: 0)
        let result = Locked<Result<WebAnswer, WebError>?>(nil)
        send(request) { outcome in
            result.withLock { $0 = outcome }
            done.signal()
        }
        _ = done.wait(timeout: .now() + .milliseconds(request.milliseconds + 5000))
        guard let outcome = result.withLock({ $0 }) else { throw WebError(.timeout, "there was no answer in time") }
        return try outcome.get()
    }

    /// One request after another, until none waits.
    private func work() {
        while true {
            let (job, spare) = state.withLock { state -> (Job?, CurlLibrary.Handle?) in
                guard !state.waiting.isEmpty else {
                    state.threads -= 1
                    return (nil, nil)
                }
                return (state.waiting.removeFirst(), state.spare.popLast())
            }
            guard let job else { return }
            guard let library = CurlLibrary.shared, let handle = spare ?? library.makeHandle() else {
                job.completion(.failure(WebError(.noLibrary, "libcurl is not installed here (Debian: apt-get install libcurl4)")))
                continue
            }
            job.completion(perform(job, library, handle))
            state.withLock { state in
                if !state.isStopped, state.spare.count < Self.atOnce { state.spare.append(handle) }
            }
        }
    }

    private func perform(_ job: Job, _ library: CurlLibrary, _ handle: CurlLibrary.Handle) -> Result<WebAnswer, WebError> {
        // The time that it has waited counts.
        let waited = Int((DispatchTime.now().uptimeNanoseconds - job.began.uptimeNanoseconds) / 1_000_000)
        var request = job.request
        request.milliseconds -= waited
        guard request.milliseconds > 0 else {
            return .failure(WebError(.timeout, "it was not sent within \(job.request.milliseconds) ms: others are slow"))
        }
        return library.perform(request, on: handle) { self.state.withLock { $0.isStopped } }
    }
}
