// SPDX-License-Identifier: MIT
//
// What the page at `/` asks for besides calls: its files, the set-up, statistics, the flows, and calls that are played or answered again. What
// takes more than a look is done on a queue of its own, one after the other: the worker goes on with answers meanwhile.

import HTTPServer
import HTTPWire
import JSON
import NCCO
import VonageAuth

extension RequestHandler {
    func home(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange, _ access: AdminAccess) -> Reply {
        var pageToken: String?
        if case .admin(let session?) = access { pageToken = sessions?.pageToken(of: session, in: bytes)?.hex }
        let (token, prefix) = (pageToken ?? "", forwarded(head, bytes, exchange).prefix)
        let setUp = setUp(head, bytes, exchange).html
        @Sendable func page(_ calls: [Call]?) -> Response {
            Page.home(HomePage.html(prefix: prefix, pageToken: token, setUp: setUp, calls: HomePage.rows(calls, prefix: prefix)))
        }
        let (mailbox, ticket) = (mailbox, exchange.ticket)
        application.calls.ask(.list(CallFilter(), after: nil, limit: HomePage.mostCalls) { calls, _ in page(calls) }) { response in
            mailbox.complete([ticket], with: response.status == .ok ? response : page(nil))
        }
        return .later
    }

    func pageFile(_ name: String, _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Response {
        guard name != PageFiles.index, let file = PageFiles.all[name] else { return .problem(.notFound, "The page has no such file.") }
        return file.response(to: head, bytes)
    }

    func setUp(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> SetUp {
        let settings = application.settings
        if let url = settings.publicURL { return SetUp(application, base: url, isPublic: true) }
        if settings.trustedProxies.trusts(exchange.peer), let url = forwarded(head, bytes, exchange).baseURL(head.authority, in: bytes) {
            return SetUp(application, base: url, isPublic: true)
        }
        return SetUp(application, base: String(decoding: flows.baseURL, as: UTF8.self), isPublic: false)
    }

    func flowReport(_ exchange: Exchange) -> Reply {
        let store = application.flows
        return aside(exchange) { .personal(Array(FlowReport(store.shown).json.utf8)) }
    }

    func explain(_ head: borrowing RequestHead, _ body: Span<UInt8>, _ exchange: Exchange) -> Reply {
        guard !head.isEncoded else { return .now(Self.encodedBody) }
        let ncco = body.copied()
        return aside(exchange) {
            let (findings, tree) = NCCO.rawFindings(ncco.span)
            var lines = JSONLines()
            lines.open()
            lines.add("explanation", tree.map { Explanation($0).lines.map { $0 + "\n" }.joined() } ?? "")
            lines.open("findings", "[")
            for finding in placed(findings, in: ncco.span) { lines.add(finding, of: nil) }
            lines.close("]")
            lines.close()
            return .personal(Array((lines.text + "\n").utf8))
        }
    }

    func play(_ head: borrowing RequestHead, _ body: Span<UInt8>) -> Response {
        guard !head.isEncoded else { return Self.encodedBody }
        guard let player = application.player else { return Self.noPlayer }
        do throws(CallToPlayError) {
            let call = try CallToPlay(body, settings: application.settings, flows: flows.set, callees: player.callees)
            return Self.played(call, player)
        } catch {
            return .problem(.badRequest, error.detail)
        }
    }

    /// - Parameter name: of the call.
    func again(
        _ name: String, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange
    ) -> Reply {
        guard !head.isEncoded else { return .now(Self.encodedBody) }
        guard let (seq, plays) = Self.stepToRepeat(body) else {
            return .now(.problem(.badRequest, "The body is no JSON object with the seq of a step, and perhaps play."))
        }
        readQuery(head, bytes)
        let (flows, masking, player) = (flows, masking, application.player)
        return ask(
            .call(name) { call in
                if plays {
                    guard let player else { return Self.noPlayer }
                    do throws(AnswerAgain.Fault) {
                        return Self.played(try CallToPlay(call, seq: seq, flows.set, callee: player.callees.first ?? ""), player)
                    } catch {
                        return error.response
                    }
                }
                do throws(AnswerAgain.Fault) {
                    return .personal(try AnswerAgain(call, seq: seq, flows).json(masking))
                } catch {
                    return error.response
                }
            }, exchange)
    }

    /// `{"seq":N}`, `{"seq":N,"play":true}`.
    private static func stepToRepeat(_ body: Span<UInt8>) -> (seq: UInt64, plays: Bool)? {
        guard let tree = try? parseJSON(body, maximumDepth: 2), case .object(let members) = tree.value else { return nil }
        var (seq, plays) = (UInt64?.none, false)
        for member in members {
            switch (member.name.value, member.node.value) {
            case ("seq", .number(let text)): seq = UInt64(text)
            case ("play", .bool(let wanted)): plays = wanted
            default: return nil
            }
        }
        return seq.map { ($0, plays) }
    }

    private static func played(_ call: CallToPlay, _ player: any CallPlaying) -> Response {
        guard let name = player.play(call) else {
            var fields = FieldBlock()
            fields.append("Retry-After", "1")
            return .problem(.tooManyRequests, "As many calls are being played as may be at one time; try again.", fields: fields)
        }
        return Response(.accepted, body: Array("{\"conversation_uuid\":\(JSONLines.quoted(name))}\n".utf8))
    }

    private static let noPlayer = Response.problem(.serviceUnavailable, "This server cannot play calls.")

    /// Answers later, from a queue of its own.
    private func aside(_ exchange: Exchange, _ work: @escaping @Sendable () -> Response) -> Reply {
        let (mailbox, ticket) = (mailbox, exchange.ticket)
        guard application.aside({ mailbox.complete([ticket], with: work()) }) else {
            var fields = FieldBlock()
            fields.append("Retry-After", "1")
            return .now(.problem(.serviceUnavailable, "Too much is asked for at once; try again.", fields: fields))
        }
        return .later
    }
}

extension CallToPlay {
    /// The same call once more: who called whom, at the flow that answered the step.
    init(_ call: Call, seq: UInt64, _ set: FlowSet, callee: String) throws(AnswerAgain.Fault) {
        guard let step = call.steps.first(where: { $0.seq == seq }) else { throw .noStep }
        guard let request = step.request, let from = call.from, let to = call.to else { throw .noRequest }
        let name = step.flow.map { String($0.prefix { $0 != "#" }) } ?? step.kind
        guard set.flows.contains(where: { $0.name == name }) else { throw .noFlow }
        var isApp = false
        var members = JSONMembers(in: request.span)
        while let member = members.next(in: request.span) {
            if request.span.equalsExactly("from_user", at: member.name), member.value.count > 2 { isApp = true }
        }
        self.init(caller: isApp ? .app(from) : .phone(from), to: to, callee: callee, flow: name)
    }
}

extension Span<UInt8> {
    fileprivate func copied() -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for at in 0..<count { copy.append(self[at]) }
        return copy
    }
}
