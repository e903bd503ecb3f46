// SPDX-License-Identifier: MIT
//
// A Call Control Object: what Vonage is told to do with a call. Each action and each endpoint is a type in a file of its own, and each value
// refuses at birth what the reference does not allow, so that whatever can be written is valid; a new action is its file and a case in
// `Action`.
//
// The module and this type share a name: write `NCCO` for the type, and other types of the module without `NCCO.` in front.

/// The actions for a call, run in order.
///
/// ```swift
/// let ncco = NCCO {
///     Talk("Please wait.")
///     if isOpen {
///         Connect(to: .phone("447700900123"), from: "14155550100", timeout: 30)
///     } else {
///         Talk("We are closed.")
///     }
/// }
/// response.body = ncco.json  // [{"action":"talk","text":"Please wait."},{"action":"connect",…
/// ```
///
/// - Source: Vonage Voice API, NCCO reference.
public struct NCCO: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// In the order in which they run; the call ends behind the last one.
    public var actions: [Action]

    /// Makes an NCCO of these actions, in this order.
    public init(_ actions: [Action]) { self.actions = actions }

    /// Makes an NCCO of the actions that stand in the closure, in this order.
    public init(@NCCOBuilder _ actions: () throws -> [Action]) rethrows { self.actions = try actions() }

    /// Lets an NCCO be written as a list of actions.
    public init(arrayLiteral actions: Action...) { self.actions = actions }

    /// The JSON text that Vonage is sent, for the body of a response with the content type `application/json`.
    public var json: String {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the JSON text that Vonage is sent: UTF-8 without white space, keys in the order of the reference, absent options left out.
    public func encode(into output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (index, action) in actions.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            action.encode(into: &output)
        }
        output.append(UInt8(ascii: "]"))
    }
}
