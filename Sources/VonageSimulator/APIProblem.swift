// SPDX-License-Identifier: MIT
//
// Errors as each of Vonage's APIs spells them: users and conversations by problem documents with a code, voice in a shape of its own that is
// older, video by a code that is the status, applications in the general shape.

import HTTPWire
import JSON

/// Which API a path belongs to.
enum APIFamily: Sendable { case conversation, voice, video, application }

/// A field that is not as it must be.
struct InvalidParameter: Hashable, Sendable {
    let name: String
    let reason: String
}

/// A request that is refused.
struct APIProblem: Error {
    let status: Status
    /// Of users and conversations, such as `user:error:not-found`; the others have none.
    let code: String
    let detail: String
    var invalid: [InvalidParameter] = []
    var fields = FieldBlock()

    init(_ status: Status, _ code: String, _ detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
    }

    static func invalid(_ parameters: [InvalidParameter]) -> APIProblem {
        var problem = APIProblem(.badRequest, "http:error:validation-fail", "The request failed due to validation errors.")
        problem.invalid = parameters
        return problem
    }

    static func invalid(_ name: String, _ reason: String) -> APIProblem { invalid([InvalidParameter(name: name, reason: reason)]) }

    static func permission(_ detail: String) -> APIProblem { APIProblem(.forbidden, "system:error:permission", detail) }

    static let notFound = APIProblem(.notFound, "http:error:not-found", "There is no such path.")
    static let internalError = APIProblem(.internalServerError, "system:error:internal-error", "An internal error occurred.")

    static func tooManyRequests(_ detail: String) -> APIProblem {
        var problem = APIProblem(.tooManyRequests, "http:error:too-many-request", detail)
        problem.fields.append("Retry-After", "1")
        return problem
    }

    /// - Parameter trace: names this answer, in `instance`.
    func response(_ family: APIFamily, trace: String) -> Response {
        let faults = invalid.isEmpty ? nil : JSONNode.list(invalid.map { .object(["name": .text($0.name), "reason": .text($0.reason)]) })
        let document: JSONNode
        var contentType = ContentType.json
        switch family {
        case .conversation:
            contentType = .problem
            document = .object([
                "title": .text(status == .badRequest ? "Bad request." : status.reason),
                "type": .text("https://developer.vonage.com/api/conversation#\(code)"), "code": .text(code), "detail": .text(detail),
                "instance": .text(trace), "invalid_parameters": faults,
            ])
        case .voice where status == .badRequest && faults != nil:
            document = .object(["type": .number(400), "title": .text("Bad Request"), "invalid_parameters": faults])
        case .voice where [.badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed].contains(status):
            let name = status.reason.uppercased().split(separator: " ").joined(separator: "_")
            document = .object(["type": .text(name), "error_title": .text(status.reason)])
        case .video:
            let fault = invalid.first.map { "\($0.name): \($0.reason)" }
            document = .object(["code": .number(Int(status.rawValue)), "message": .text(fault ?? detail)])
        case .voice, .application:
            contentType = .problem
            document = .object([
                "type": .text("https://developer.vonage.com/api-errors#\(generalName)"), "title": .text(status.reason),
                "detail": .text(detail), "instance": .text(trace), "invalid_parameters": faults,
            ])
        }
        var fields = fields
        if family == .voice { fields.append("x-nexmo-trace-id", trace) }
        return Response(status, fields: fields, contentType: contentType, body: document.json)
    }

    /// How the general shape names what the codes say.
    private var generalName: String {
        switch status {
        case .badRequest: "bad-request"
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .notFound: "not-found"
        case .tooManyRequests: "throttled"
        case .internalServerError, .serviceUnavailable, .badGateway: "internal-error"
        default: status.reason.lowercased().split(separator: " ").joined(separator: "-")
        }
    }
}
