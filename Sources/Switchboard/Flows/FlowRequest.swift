// SPDX-License-Identifier: MIT
//
// A request as rules and templates see it. Each value that a flow asks for has a slot, is looked up once, and is read as a phone number once.
// One value of this type is used for all requests of a worker, so nothing is allocated once its buffers have grown.

import NCCO

struct FlowRequest {
    private enum Number {
        case unread
        case none
        case number(PhoneNumber)
    }

    private struct Slot {
        var isRead = false
        var value: ParameterValue?
        var number = Number.unread
    }

    var parameters = WebhookParameters()
    /// Seconds since 1970 in UTC.
    var now: Int64 = 0
    private var slots: [Slot] = []
    /// For `{{base_url}}`, without a slash at its end.
    var baseURL: [UInt8] = []
    /// For strings that are put together.
    var scratch: [UInt8] = []

    /// To be called when the parameters have been read: what was looked up before is forgotten.
    mutating func begin(slots count: Int, now: Int64) {
        self.now = now
        if slots.count < count { slots.append(contentsOf: repeatElement(Slot(), count: count - slots.count)) }
        for index in 0..<count {
            slots[index].isRead = false
            slots[index].number = .unread
        }
    }

    mutating func value(_ slot: Int, _ paths: [ParameterPath]) -> ParameterValue? {
        if !slots[slot].isRead {
            slots[slot].value = parameters.value(at: paths[slot])
            slots[slot].isRead = true
        }
        return slots[slot].value
    }

    /// The value as a phone number, however it is written; nil where it is none.
    mutating func number(_ slot: Int, _ paths: [ParameterPath]) -> PhoneNumber? {
        switch slots[slot].number {
        case .none: return nil
        case .number(let number): return number
        case .unread:
            guard let value = value(slot, paths) else {
                slots[slot].number = .none
                return nil
            }
            // A whole JSON number may be one; an array of one, or an object, is none.
            let number = withBytes(value) { !value.isJSON || isWhole($0) ? PhoneNumber(lenient: $0) : nil }
            slots[slot].number = number.map { .number($0) } ?? .none
            return number
        }
    }

    func withBytes<Result>(_ value: ParameterValue, _ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = parameters.bytes(of: value)
        return body(bytes.span.extracting(value.range))
    }
}

private func isWhole(_ json: Span<UInt8>) -> Bool {
    for at in 0..<json.count where !(0x30...0x39).contains(json[at]) { return false }
    return true
}
