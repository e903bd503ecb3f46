// SPDX-License-Identifier: MIT
//
// Requests to other servers, by URLSession: the one place that Foundation's networking is used. It follows no redirect, keeps no cookie and no
// cache, takes no answer above a size and waits for none beyond a time; whatever a peer does becomes an answer or an error value. Nothing of it
// runs on a worker: completions come on URLSession's queue.

import Dispatch
import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
        /// No connection came about: nothing was done there.
        case unreachable
        /// The certificate or the handshake is not right.
        case insecure
        case timeout
        case tooLarge
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
    /// Connections to one host at once.
    private static let connections = 8

    private let session: URLSession
    private let tasks = Tasks()

    package init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = Self.connections
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: tasks, delegateQueue: nil)
    }

    /// Ends what is under way; the client cannot be used afterwards.
    package func stop() { session.invalidateAndCancel() }

    /// Sends a request; `completion` is called once, on a queue of URLSession's.
    package func send(_ request: WebRequest, completion: @escaping @Sendable (Result<WebAnswer, WebError>) -> Void) {
        guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            url.host != nil
        else { return completion(.failure(WebError(.badURL, "this is no http or https URL"))) }
        var made = URLRequest(url: url, timeoutInterval: Double(request.milliseconds) / 1000)
        made.httpMethod = request.method
        for field in request.fields { made.setValue(field.value, forHTTPHeaderField: field.name) }
        if let body = request.body { made.httpBody = Data(body) }
        let task = session.dataTask(with: made)
        tasks.add(task, maximumAnswer: request.maximumAnswer, completion)
        task.resume()
        // The interval of the request counts anew with each byte; this one counts all.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(request.milliseconds)) { [weak task, tasks] in
            if let task { tasks.end(task, WebError(.timeout, "there was no whole answer within \(request.milliseconds) ms")) }
        }
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
}

/// What is under way, by the number of its task. URLSession calls one method at a time, but others add and end tasks.
private final class Tasks: NSObject, URLSessionDataDelegate, Sendable {
    private struct Waiting: Sendable {
        let maximumAnswer: Int
        let completion: @Sendable (Result<WebAnswer, WebError>) -> Void
        var body: [UInt8] = []
    }

    private let waiting = Locked<[Int: Waiting]>([:])

    func add(_ task: URLSessionTask, maximumAnswer: Int, _ completion: @escaping @Sendable (Result<WebAnswer, WebError>) -> Void) {
        let number = task.taskIdentifier
        waiting.withLock { $0[number] = Waiting(maximumAnswer: maximumAnswer, completion: completion) }
    }

    /// Ends a task that has not ended yet.
    func end(_ task: URLSessionTask, _ error: WebError) {
        guard let one = take(task) else { return }
        task.cancel()
        one.completion(.failure(error))
    }

    private func take(_ task: URLSessionTask) -> Waiting? {
        let number = task.taskIdentifier
        return waiting.withLock { $0.removeValue(forKey: number) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let number = dataTask.taskIdentifier
        let isTooLarge = waiting.withLock { waiting in
            guard var one = waiting.removeValue(forKey: number) else { return false }
            one.body += data
            let isTooLarge = one.body.count > one.maximumAnswer
            waiting[number] = one
            return isTooLarge
        }
        if isTooLarge { end(dataTask, WebError(.tooLarge, "the answer is longer than it may be")) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let one = take(task) else { return }
        if let error { return one.completion(.failure(Self.error(error as NSError))) }
        guard let response = task.response as? HTTPURLResponse else {
            return one.completion(.failure(WebError(.broken, "what came is no HTTP answer")))
        }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
        one.completion(.success(WebAnswer(status: response.statusCode, fields: fields, body: one.body)))
    }

    private static func error(_ error: NSError) -> WebError {
        // On Linux the words are libcurl's.
        let words =
            (error.userInfo[NSLocalizedDescriptionKey] as? String)
            ?? ((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.userInfo[NSLocalizedDescriptionKey] as? String) ?? "error \(error.code)"
        let fault: WebError.Fault =
            switch error.code {
            case NSURLErrorCannotFindHost, NSURLErrorCannotConnectToHost, NSURLErrorDNSLookupFailed, NSURLErrorNotConnectedToInternet:
                .unreachable
            case NSURLErrorTimedOut: .timeout
            case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate, NSURLErrorServerCertificateUntrusted,
                NSURLErrorServerCertificateHasUnknownRoot, NSURLErrorServerCertificateNotYetValid:
                .insecure
            // On Linux most faults of TLS have no number of their own.
            case _ where words.contains("SSL") || words.contains("TLS") || words.contains("certificate"): .insecure
            default: .broken
            }
        return WebError(fault, words)
    }
}
