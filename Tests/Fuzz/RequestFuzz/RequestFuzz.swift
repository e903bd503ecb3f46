// SPDX-License-Identifier: MIT
//
// libFuzzer's entry for the connection machine. The first byte chooses the limits, the second how the rest is cut; whole and cut must come to
// the same requests and the same end, and every range must lie inside what was sent. Any difference is a trap, which the fuzzer reports with
// its input. A long head that comes in small pieces may be looked at later, so that both are compared after the peer has ended.
//
// Built with `FUZZ=1 swift build -c release --product RequestFuzz --sanitize=fuzzer -Xswiftc -parse-as-library`.

import HTTPWire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends the bytes for the time of this call.
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard bytes.count > 2 else { return 0 }
    let input = Array(bytes.dropFirst(2))
    var limits = Limits()
    if bytes[0] & 1 == 1 {
        limits.head = 120
        limits.fields = 4
        limits.target = 40
        limits.body = 24
        limits.chunkLine = 16
        limits.chunkOverhead = 40
    }
    var whole = Conversation(limits: limits)
    whole.send(input[...])
    var cut = Conversation(limits: limits)
    var rest = input[...]
    var step = Int(bytes[1] & 0x3F)
    while !rest.isEmpty {
        // Pieces of one length, or of lengths that vary from one to the next.
        let piece = rest.prefix(step + 1)
        cut.send(piece)
        rest = rest.dropFirst(piece.count)
        if bytes[1] & 0x80 != 0 { step = (step * 5 + 3) & 0x3F }
    }
    precondition(whole.events.starts(with: cut.events), "whole \(whole.events), cut \(cut.events)")
    whole.halfClose()
    cut.halfClose()
    precondition(whole.events == cut.events, "whole \(whole.events), cut \(cut.events)")
    readOther(input)
    return 0
}

/// What else reads a peer's bytes.
private func readOther(_ input: [UInt8]) {
    var parameters = Parameters()
    parameters.parse(0..<input.count, in: input.span)
    for entry in parameters.entries {
        precondition(entry.name.upperBound == entry.value.lowerBound && entry.value.upperBound <= parameters.bytes.count)
    }
    precondition(parameters.bytes.count <= input.count)
    if let path = decodePath(0..<input.count, in: input.span) { precondition(path.count <= input.count && !path.contains(0x5C)) }
}

/// A connection whose answers go out at once, and what happened on it.
private struct Conversation {
    enum Event: Equatable {
        case request(method: Method, texts: [[UInt8]], framing: BodyFraming, keepAlive: Bool, body: [UInt8])
        case refused(WireError)
        case closed
        case stopped
    }

    private var machine: ConnectionMachine
    private var head = RequestHead()
    private var buffer: [UInt8] = []
    private var ended = false
    private(set) var events: [Event] = []

    init(limits: Limits) { machine = ConnectionMachine(limits: limits, now: 0) }

    mutating func send(_ piece: ArraySlice<UInt8>) {
        buffer.append(contentsOf: piece)
        run()
    }

    mutating func halfClose() {
        machine.peerClosed()
        run()
    }

    private mutating func run() {
        while !ended {
            let lent = buffer
            switch machine.next(lent.span, head: &head, now: 0) {
            case .read:
                let spent = machine.spent
                precondition(spent.lowerBound >= 0 && spent.upperBound <= buffer.count)
                guard !spent.isEmpty else { return }
                buffer.removeSubrange(spent)
                machine.dropSpent()
                return
            case .mayContinue:
                precondition(head.expectsContinue && buffer.count == head.end)
            case .request:
                take()
            case .refuse(let error):
                events.append(.refused(error))
                ended = true
            case .stop:
                events.append(.stopped)
                ended = true
            }
        }
    }

    private mutating func take() {
        precondition(machine.requestLength <= buffer.count && head.end <= machine.requestLength)
        var ranges = [head.target, head.path, head.authority]
        for range in [head.query, head.contentType, head.authorization] { ranges.append(range ?? 0..<0) }
        for field in head.fields { ranges += [field.name, field.value] }
        for range in ranges { precondition(range.lowerBound >= 0 && range.upperBound <= head.end) }
        if let body = machine.body { precondition(body.lowerBound == head.end && body.upperBound == machine.requestLength) }
        let body = machine.body.map { Array(buffer[$0]) } ?? machine.chunkedBody
        precondition(body.count <= machine.limits.body && head.fields.count <= machine.limits.fields && head.end <= machine.limits.head)
        events.append(
            .request(
                method: head.method, texts: ranges.map { Array(buffer[$0]) }, framing: head.framing, keepAlive: head.keepAlive, body: body))
        let length = machine.requestLength
        let persistence = machine.replied(keepAlive: head.keepAlive, leftover: buffer.count > length, now: 0)
        buffer.removeFirst(length)
        if persistence != .keep {
            events.append(.closed)
            ended = true
        }
    }
}
