// SPDX-License-Identifier: MIT
//
// The action `wait`. A time outside its range can't be made here, but is read as what Vonage makes of it: the nearest in range.

/// Seconds, 0.1...7200.
///
/// - Source: Vonage Voice API, NCCO reference, `wait`, option `timeout`.
public typealias WaitTime = Number<1, 72000>

/// Pauses before the next action.
///
/// - Source: Vonage Voice API, NCCO reference, `wait`.
public struct Wait: Hashable, Sendable {
    /// How long, seconds, 0.1...7200; Vonage takes 10 when absent.
    public var timeout: WaitTime?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that pauses for so many seconds.
    public init(_ timeout: WaitTime? = nil) { self.timeout = timeout }
}

extension Wait: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) { timeout = try options.take("timeout")?.clampedNumber() }

    func encode(into output: inout [UInt8]) {
        output.beginAction("wait")
        output.appendOption("timeout", timeout)
        output.endObject(otherOptions)
    }
}
