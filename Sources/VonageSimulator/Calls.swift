// SPDX-License-Identifier: MIT
//
// `/v1/calls`: calls are made, looked at, changed and spoken to. Where nobody plays them, whoever is called answers at once; else what was
// accepted becomes an order.

import HTTPWire
import JSON

extension SimulatedVonage {
    /// Calls made, and other requests for calls, in one second; more are refused and not queued.
    private static let (createsEachSecond, othersEachSecond) = (3, 15)

    /// Whence a call goes whose number Vonage is to choose; reserved for fiction.
    private static let ownNumber = JSONNode.object(["type": .text("phone"), "number": .text("14155550100")])

    /// Of the conversation that a call has: it goes two days after the call.
    private static let callProperties = JSONNode.object(["ttl": .number(172_800)])

    /// Takes a call on in its course.
    ///
    /// - Returns: false where there is no such call, or this status cannot follow the one it has.
    package mutating func advance(call uuid: String, to status: CallStatus, at now: Int64) -> Bool {
        guard var call = calls[uuid], call.advance(to: status, at: now) else { return false }
        calls.put(call)
        hasChanged = true
        guard status.isOver, var conversation = conversations[call.conversation], conversation.isOfCall else { return true }
        conversation.emptySince = now
        put(conversation)
        return true
    }

    /// Takes a call over into another conversation, which is made if there is room for it; the one that it had goes.
    mutating func move(call uuid: String, to conversation: String, at now: Int64) {
        guard var call = calls[uuid], call.conversation != conversation else { return }
        if conversations[call.conversation]?.isOfCall ?? false { conversations.remove(call.conversation) }
        call.conversation = conversation
        calls.put(call)
        hasChanged = true
        guard conversations[conversation] == nil, hasRoomForConversation else { return }
        var new = SimulatedConversation(id: conversation, name: "NAM-\(newID())", region: call.region, created: now)
        new.properties = Self.callProperties
        new.emptySince = nil
        put(new)
    }

    /// The conversation of this name that a call enters: the one that there is, or a new one.
    ///
    /// - Returns: nil where there is no room for a new one.
    mutating func room(named name: String, for call: String, at now: Int64) -> String? {
        if var room = conversations.named(name) {
            if room.members.isEmpty {
                room.emptySince = now
                put(room)
            }
            return room.id
        }
        guard let region = calls[call]?.region, hasRoomForConversation else { return nil }
        let room = try? addConversation(named: name, region, at: now) { $0.properties = Self.callProperties }
        return room?.id
    }

    /// Ends what nobody plays any more: whoever talked has talked, and who was still being called was not reached.
    ///
    /// - Parameter now: nil where that is not known; then a call ends with the last that is known of it.
    package mutating func endCalls(at now: Int64? = nil) {
        for call in calls.all where !call.status.isOver {
            let status: CallStatus = call.status.isAnswered ? .completed : .failed
            _ = advance(call: call.id, to: status, at: now ?? call.answered ?? call.created)
        }
    }

    mutating func countCallRequest(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) {
        guard rules.limitsCallRate else { return }
        if callRate.second != now / 1000 { callRate = (now / 1000, 0, 0) }
        if request.method == .post {
            guard callRate.creates < Self.createsEachSecond else { throw .tooManyRequests("At most 3 calls are made each second.") }
            callRate.creates += 1
        } else {
            guard callRate.others < Self.othersEachSecond else { throw .tooManyRequests("At most 15 requests are taken each second.") }
            callRate.others += 1
        }
    }

    mutating func answerCalls(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        switch (place.rest.count, request.method) {
        case (0, .get): return try listCalls(request, place)
        case (0, .post): return try createCall(request, place, at: now)
        case (0, _): throw wrongMethod("GET, POST")
        case (1, .get): return reply(try call(place.rest[0], place).shown)
        case (1, .put): return try changeCall(request, place, at: now)
        case (1, _): throw wrongMethod("GET, PUT")
        case (2, _): return try answerMedia(request, place, place.rest[1], at: now)
        case (3, _) where place.rest[1] == "input" && place.rest[2] == "dtmf": return try answerMedia(request, place, "input", at: now)
        default: throw .notFound
        }
    }

    private func call(_ uuid: String, _ place: Place) throws(APIProblem) -> SimulatedCall {
        guard let call = calls[uuid.lowercased()], isVisible(call.region, place) else {
            throw APIProblem(.notFound, "", "There is no such call.")
        }
        return call
    }

    /// - Throws: 404 where it is over, as for one that never was.
    private func liveCall(_ uuid: String, _ place: Place) throws(APIProblem) -> SimulatedCall {
        let call = try call(uuid, place)
        guard !call.status.isOver else { throw APIProblem(.notFound, "", "The call is over.") }
        return call
    }

    // MARK: Making and listing

    private mutating func createCall(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        var body = try BodyReader(request)
        let endpoints: [Void]? = body.objects("to", 1...1) { endpoint in readEndpoint(&endpoint) }
        if endpoints == nil, body.faults.isEmpty { body.fault("to", "is required") }
        let from = body.object("from")
        _ = body.object("from") { from in
            if from.choice("type", ["phone"]) == nil, from.faults.isEmpty { from.fault("type", "is required") }
            readNumber(&from, "number")
        }
        let isRandom = body.flag("random_from_number") ?? false
        if (from != nil) == isRandom, body.faults.isEmpty { body.fault("from", "exactly one of from and random_from_number is needed") }
        let ncco = readNCCO(&body, "ncco")
        let answer = body.urls("answer_url")
        if body.faults.isEmpty, (ncco == nil) == (answer == nil) {
            body.fault("ncco", "exactly one of ncco and answer_url is needed")
        }
        _ = body.choice("answer_method", ["GET", "POST"])
        _ = body.urls("event_url")
        _ = body.choice("event_method", ["GET", "POST"])
        _ = body.choice("machine_detection", ["continue", "hangup"])
        _ = body.object("advanced_machine_detection") { detection in
            _ = detection.choice("behavior", ["continue", "hangup"])
            _ = detection.choice("mode", ["default", "detect", "detect_beep"])
            _ = detection.whole("beep_timeout", 45...120)
        }
        _ = body.whole("length_timer", 1...86_400)
        _ = body.whole("ringing_timer", 1...120)
        try body.finish()
        if !rules.answersCalls, calls.all.count(where: { !$0.status.isOver }) >= rules.mostPlayed {
            throw .tooManyRequests("At most \(rules.mostPlayed) calls go on at one time.")
        }
        makeRoomForCall()
        guard hasRoomForCall else { throw .tooManyRequests("This simulator keeps at most \(Self.mostCalls) calls that are not over.") }
        let conversation = try addConversation(named: nil, place.region, at: now) { conversation in
            conversation.properties = Self.callProperties
            conversation.emptySince = nil
        }
        let root = JSONNode(.object(body.members), at: 0..<0)
        var call = SimulatedCall(
            id: newID(), conversation: conversation.id, to: root["to"]?.elements?.first ?? .object([:]), from: from ?? Self.ownNumber,
            region: place.region,
            created: now, request: root)
        call.ncco = ncco
        call.answerURL = answer?.first
        let answered: JSONNode = .object([
            "uuid": .text(call.id), "status": .text(call.status.rawValue), "direction": .text("outbound"),
            "conversation_uuid": .text(conversation.id),
        ])
        if rules.answersCalls { _ = call.advance(to: .answered, at: now) }
        calls.put(call)
        order(.begin(plan(for: call, regionURL: base(request, region: place.region, place))), for: call)
        return reply(answered, .created)
    }

    /// Where there is no room for one more call, those that are over go, the oldest first, with their conversations.
    private mutating func makeRoomForCall() {
        guard !hasRoomForCall else { return }
        for call in calls.all where call.status.isOver {
            calls.remove(call.id)
            if conversations[call.conversation]?.isOfCall ?? false { conversations.remove(call.conversation) }
            if hasRoomForCall { return }
        }
    }

    private var hasRoomForCall: Bool {
        calls.count < Self.mostCalls && calls.bytes <= Self.mostBytes && hasRoomForConversation
    }

    private var hasRoomForConversation: Bool {
        conversations.count < Self.mostConversations && conversations.bytes <= Self.mostBytes
    }

    private func readNumber(_ body: inout BodyReader, _ name: String) {
        guard let number = body.text(name) else {
            if body.faults.isEmpty { body.fault(name, "is required") }
            return
        }
        let digits = number.utf8.first == UInt8(ascii: "+") ? number.utf8.dropFirst() : number.utf8[...]
        guard (1...15).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return body.fault(name, "can contain up to 15 digits prefixed with +")
        }
    }

    private func readEndpoint(_ endpoint: inout BodyReader) {
        func need(_ name: String, _ value: String?, _ body: inout BodyReader) {
            if value == nil, body.faults.isEmpty { body.fault(name, "is required") }
        }
        let type = endpoint.choice("type", ["phone", "sip", "websocket", "vbc", "app"])
        switch type {
        case "phone":
            readNumber(&endpoint, "number")
            endpoint.ignore("dtmfAnswer", "shaken")
        case "sip":
            need("uri", endpoint.uri("uri"), &endpoint)
            endpoint.ignore("headers", "standard_headers")
        case "websocket":
            need("uri", endpoint.uri("uri", schemes: ["ws", "wss"]), &endpoint)
            _ = endpoint.text("content-type")
            endpoint.ignore("headers", "authorization")
        case "vbc": need("extension", endpoint.text("extension"), &endpoint)
        case "app": need("user", endpoint.text("user", 1...100), &endpoint)
        default:
            need("type", nil, &endpoint)
            // What the others are cannot be said.
            endpoint.ignoreAll()
        }
    }

    /// A list of actions. What they say is read when they are executed.
    private func readNCCO(_ body: inout BodyReader, _ name: String) -> JSONNode? {
        guard let node = body.node(name) else { return nil }
        guard let elements = node.elements, !elements.isEmpty, elements.count <= 1000,
            elements.allSatisfy({ $0["action"]?.string != nil })
        else {
            body.fault(name, "must be an array of actions")
            return nil
        }
        return node
    }

    private func listCalls(_ request: SimulatedRequest, _ place: Place) throws(APIProblem) -> Response {
        let page = try PageRequest(request)
        var faults: [InvalidParameter] = []
        var (status, start): (CallStatus?, Int) = (nil, 0)
        if let text = request.parameter("status") {
            status = CallStatus(rawValue: text)
            if status == nil {
                let names = CallStatus.allCases.map(\.rawValue).joined(separator: ", ")
                faults.append(InvalidParameter(name: "status", reason: "must be one of \(names)"))
            }
        }
        if let text = request.parameter("record_index") {
            if let index = Int(text), (0...1_000_000).contains(index) {
                start = index
            } else {
                faults.append(InvalidParameter(name: "record_index", reason: "must be a whole number from 0 on"))
            }
        }
        guard faults.isEmpty else { throw .invalid(faults) }
        let conversation = request.parameter("conversation_uuid")
        var found = calls.all.filter { call in
            isVisible(call.region, place) && page.includes(call.created) && status.map { $0 == call.status } ?? true
                && conversation.map { $0 == call.conversation } ?? true
        }
        if page.isDescending { found.reverse() }
        let shown = found.dropFirst(start).prefix(page.size)
        func link(_ index: Int?) -> JSONNode {
            var query = "page_size=\(page.size)"
            if let index { query += "&record_index=\(index)&order=\(page.isDescending ? "desc" : "asc")" }
            if let status { query += "&status=\(status.rawValue)" }
            if let conversation { query += "&conversation_uuid=\(percentEncoded(conversation))" }
            for (name, time) in [("date_start", page.since), ("date_end", page.until)] {
                if let time { query += "&\(name)=\(percentEncoded(isoTime(time)))" }
            }
            return .object(["href": .text("/calls?\(query)")])
        }
        let lastIndex = found.isEmpty ? 0 : (found.count - 1) / page.size * page.size
        return reply(
            .object([
                "count": .number(found.count), "page_size": .number(page.size), "record_index": .number(start),
                "_links": .object([
                    "self": link(start), "first": link(nil), "last": link(lastIndex == 0 ? nil : lastIndex),
                    "prev": start > 0 ? link(max(start - page.size, 0)) : nil,
                    "next": start + shown.count < found.count ? link(start + shown.count) : nil,
                ]),
                "_embedded": .object(["calls": .list(shown.map(\.shown))]),
            ]))
    }

    // MARK: Changing

    private mutating func changeCall(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        var call = try liveCall(place.rest[0], place)
        var body = try BodyReader(request)
        let action = body.choice("action", ["hangup", "mute", "unmute", "earmuff", "unearmuff", "transfer"])
        if action == nil, body.faults.isEmpty { body.fault("action", "is required") }
        var (ncco, url): (JSONNode?, String?) = (nil, nil)
        if action == "transfer" {
            let destination: Void? = body.object("destination") { destination in
                if destination.choice("type", ["ncco"]) == nil, destination.faults.isEmpty { destination.fault("type", "is required") }
                ncco = readNCCO(&destination, "ncco")
                url = destination.urls("url")?.first
                if destination.faults.isEmpty, (ncco == nil) == (url == nil) {
                    destination.fault("ncco", "exactly one of ncco and url is needed")
                }
            }
            if destination == nil, body.faults.isEmpty { body.fault("destination", "is required") }
        }
        try body.finish()
        switch action {
        case "hangup":
            _ = advance(call: call.id, to: call.status.isAnswered ? .completed : .cancelled, at: now)
            order(.hangUp, for: call)
            return Response(.noContent)
        case "mute": call.isMuted = true
        case "unmute": call.isMuted = false
        case "earmuff": call.isEarmuffed = true
        case "unearmuff": call.isEarmuffed = false
        default:
            guard call.status.isAnswered else { throw Self.notActive }
            try checkBytes(calls.bytes)
            (call.ncco, call.answerURL) = (ncco, url)
            call.talkEnds = nil
            call.isStreaming = false
            order(.transfer(ncco: ncco?.json, url: url), for: call)
        }
        calls.put(call)
        hasChanged = true
        return Response(.noContent)
    }

    private static let notActive = APIProblem(.badRequest, "", "The leg is not active.")

    /// What is played to a leg and pressed on it.
    private mutating func answerMedia(
        _ request: SimulatedRequest, _ place: Place, _ kind: String, at now: Int64
    ) throws(APIProblem) -> Response {
        guard ["talk", "stream", "dtmf", "input"].contains(kind) else { throw .notFound }
        let mayDelete = kind != "dtmf"
        guard request.method == .put || mayDelete && request.method == .delete else { throw wrongMethod(mayDelete ? "PUT, DELETE" : "PUT") }
        var call = try liveCall(place.rest[0], place)
        var message = ""
        if request.method == .delete {
            if kind == "talk" { call.talkEnds = nil }
            if kind == "stream" { call.isStreaming = false }
            if kind == "input" { order(.listen(nil), for: call) }
            message = kind == "talk" ? "Talk stopped" : "Stream stopped"
        } else {
            var body = try BodyReader(request)
            var (talk, loops): (String?, Int64) = (nil, 1)
            var what: CallOrder.What?
            switch kind {
            case "talk":
                talk = body.text("text", 1...1500)
                if talk == nil, body.faults.isEmpty { body.fault("text", "is required") }
                what = talk.map { .talk($0) }
                _ = body.text("language")
                _ = body.whole("style", 0...100)
                _ = body.flag("premium")
                _ = body.text("voice_name")
                loops = body.whole("loop", 0...Int64(Int32.max)) ?? 1
                readLevel(&body)
                message = "Talk started"
            case "stream":
                let url = body.urls("stream_url")?.first
                if url == nil, body.faults.isEmpty { body.fault("stream_url", "is required") }
                what = url.map { .stream($0) }
                loops = body.whole("loop", 0...Int64(Int32.max)) ?? 1
                readLevel(&body)
                message = "Stream started"
            case "dtmf":
                let digits = body.text("digits", 1...100)
                if digits == nil, body.faults.isEmpty { body.fault("digits", "is required") }
                if let digits, !digits.allSatisfy({ "0123456789*#p".contains($0) }) { body.fault("digits", "may hold 0-9, *, # and p") }
                what = digits.map { .press($0) }
                message = "DTMF sent"
            default:
                let url = body.urls("event_url")?.first
                if url == nil, body.faults.isEmpty { body.fault("event_url", "is required") }
                what = .listen(url)
            }
            try body.finish()
            guard call.status.isAnswered else { throw Self.notActive }
            if kind == "talk" {
                if let end = call.talkEnds, end > now { throw APIProblem(.badRequest, "", "The leg is being talked to.") }
                // A voice speaks some 15 characters a second.
                let once = Int64(talk?.unicodeScalars.count ?? 0) * 1000 / 15
                call.talkEnds = loops == 0 ? .max : now + once * loops
            }
            if kind == "stream" { call.isStreaming = true }
            if let what { order(what, for: call) }
        }
        calls.put(call)
        hasChanged = true
        return kind == "input" ? Response(.ok) : reply(.object(["message": .text(message), "uuid": .text(call.id)]))
    }

    /// A text, as documented, or the number that it holds.
    private func readLevel(_ body: inout BodyReader) {
        guard let node = body.node("level") else { return }
        var text = node.string
        if case .number(let number) = node.value { text = number }
        guard let level = text.flatMap(Double.init), (-1...1).contains(level) else { return body.fault("level", "must be from -1 to 1") }
    }
}
