// SPDX-License-Identifier: MIT
//
// `/calls`, `/calls/{conversation_uuid}` and `/calls/stream`, for the admin: what happened, as JSON and live. Numbers are masked unless
// `unmasked=1` asks for them.

import HTTPServer
import HTTPWire
import JSON
import NCCO

extension RequestHandler {
    private static var mostCallsOnAPage: Int { 200 }

    func calls(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> Reply {
        readQuery(head, bytes)
        var filter = CallFilter()
        filter.status = text("status")
        if let number = text("number") {
            guard let parsed = PhoneNumber(lenient: number) else {
                return .now(.problem(.badRequest, "number is no phone number; write 7 to 15 digits with the country code."))
            }
            filter.number = parsed
        }
        filter.user = text("user")
        for (name, path) in [("since", \CallFilter.since), ("to", \CallFilter.to)] as [(StaticString, WritableKeyPath<CallFilter, Int64?>)]
        {
            guard let value = text(name) else { continue }
            guard let time = TimeArgument.milliseconds(value, now: exchange.wall) else {
                return .now(.problem(.badRequest, "\(name) is no time; write \(TimeArgument.allowed)."))
            }
            filter[keyPath: path] = time
        }
        var cursor: CallCursor?
        if let after = text("after") {
            cursor = CallCursor(after)
            guard cursor != nil else { return .now(.problem(.badRequest, "after is not the next of a page.")) }
        }
        var limit = 50
        if let given = text("limit") {
            guard let number = Int(given), (1...Self.mostCallsOnAPage).contains(number) else {
                return .now(.problem(.badRequest, "limit is not a whole number from 1 to \(Self.mostCallsOnAPage)."))
            }
            limit = number
        }
        let masking = masking
        return ask(
            .list(filter, after: cursor, limit: limit) { calls, next in
                var body = Array("{\"calls\":[".utf8)
                for (index, call) in calls.enumerated() {
                    if index > 0 { body.append(UInt8(ascii: ",")) }
                    call.appendJSON(to: &body, masking: masking, steps: false)
                }
                body.append(contentsOf: "],\"next\":".utf8)
                if let next { body.appendJSONString(next.description) } else { body.append(contentsOf: "null".utf8) }
                body.append(contentsOf: "}\n".utf8)
                return .personal(body)
            }, exchange)
    }

    func call(_ name: String, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> Reply {
        readQuery(head, bytes)
        let masking = masking
        return ask(
            .call(name) { call in
                var body: [UInt8] = []
                call.appendJSON(to: &body, masking: masking)
                body.append(UInt8(ascii: "\n"))
                return .personal(body)
            }, exchange)
    }

    func callStream(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> Reply {
        let response = Response(.ok, contentType: .events)
        guard head.method != .head else { return .now(response) }
        readQuery(head, bytes)
        let last = head.value(of: "last-event-id", in: bytes).flatMap { UInt64(bytes.text($0)) }
        guard application.calls.subscribe(exchange.ticket, mailbox, after: last, masking) else {
            var fields = FieldBlock()
            fields.append("Retry-After", "10")
            return .now(.problem(.serviceUnavailable, "Too many listen already.", fields: fields))
        }
        return .stream(response)
    }

    func ask(_ question: CallFeed.Question, _ exchange: Exchange) -> Reply {
        let (mailbox, ticket) = (mailbox, exchange.ticket)
        application.calls.ask(question) { mailbox.complete([ticket], with: $0) }
        return .later
    }

    func readQuery(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
        // Without a body there is no JSON to be wrong.
        try? request.parameters.read(query: head.query, body: Span(), contentType: nil, in: bytes)
    }

    private func text(_ name: StaticString) -> String? {
        let decoded = request.parameters.decoded.bytes
        return request.parameters.value(of: name).map { decoded.span.text($0) }
    }

    var masking: Masking { text("unmasked") == "1" ? .unmasked : .masked }
}
