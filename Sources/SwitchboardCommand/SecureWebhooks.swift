// SPDX-License-Identifier: MIT
//
// Webhooks of a played call to servers with TLS, by the client that asks Vonage's API.

import HTTPServer
import NCCO
import VonageAPI
import VonageSimulator

struct SecureWebhooks: Sendable {
    private let client = WebClient()

    var sender: SecureSender {
        { [client] request, authorization, completion in
            var fields: [(name: String, value: String)] = []
            if let authorization { fields.append(("Authorization", authorization)) }
            if request.body != nil { fields.append(("Content-Type", "application/json")) }
            let url = (URLParts(request.address.url)?.origin ?? "") + request.target
            let began = Clock.system.monotonic()
            let sent = WebRequest(
                request.address.method.rawValue, url, fields: fields, body: request.body,
                milliseconds: Int(request.connectLimit + request.answerLimit))
            client.send(sent) { result in
                let micros = Clock.system.monotonic() - began
                switch result {
                case .success where micros > (request.connectLimit + request.answerLimit) * 1000:
                    completion(.failure(.responseTimeout, micros: micros))
                case .success(let answer):
                    completion(
                        .reply(
                            PlayedReply(
                                status: answer.status, contentType: answer.fields["content-type"], body: answer.body,
                                rule: answer.fields["x-switchboard-flow"], warning: answer.fields["x-switchboard-warning"], micros: micros))
                    )
                case .failure(let error): completion(.failure(PlayedFailure(error), micros: micros))
                }
            }
        }
    }
}

extension PlayedFailure {
    fileprivate init(_ error: WebError) {
        self =
            switch error.fault {
            case .badURL: .invalidURL
            case .noLibrary, .insecure: .tls
            case .unreachable: .refused
            case .timeout: .responseTimeout
            case .tooLarge: .tooLarge
            // Of our own making, as far as the server is concerned.
            case .broken, .busy, .stopped: .closed
            }
    }
}
