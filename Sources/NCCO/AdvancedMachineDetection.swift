// SPDX-License-Identifier: MIT
//
// The newer detection of answering machines. `beep_timeout` is the one option of an NCCO that Vonage spells with an underscore.

/// How a machine that answers is told from a person, and what happens then.
///
/// - Source: Vonage Voice API, API specification 1.10, `advanced_machine_detection`.
public struct AdvancedMachineDetection: Hashable, Sendable {
    /// What happens when a machine answers.
    public enum Behavior: String, Hashable, Sendable, CaseIterable {
        /// The call goes on, and an event says that it is a machine.
        case `continue`
        /// The leg is ended.
        case hangup
    }

    /// What is waited for.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// For nothing: events say what answered and when it beeped, and either may be answered with an NCCO.
        case `default`
        /// For what answered.
        case detect
        /// For the beep.
        case detectBeep = "detect_beep"
    }

    /// Whole seconds, 30...120. Some SDKs begin at 45; the API specification does not.
    public typealias BeepTimeout = Whole<30, 120>

    /// Vonage decides when absent.
    public var behavior: Behavior?
    /// Vonage takes `detect` when absent.
    public var mode: Mode?
    /// How long a beep is waited for, whole seconds, 30...120.
    public var beepTimeout: BeepTimeout?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes the settings of a detection.
    public init(behavior: Behavior? = nil, mode: Mode? = nil, beepTimeout: BeepTimeout? = nil) {
        self.behavior = behavior
        self.mode = mode
        self.beepTimeout = beepTimeout
    }
}

extension AdvancedMachineDetection: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        behavior = try options.take("behavior")?.choice()
        mode = try options.take("mode")?.choice()
        beepTimeout = try options.take("beep_timeout", or: "beepTimeout")?.whole()
    }

    func encode(into output: inout [UInt8]) {
        output.beginObject()
        output.appendOption("behavior", behavior)
        output.appendOption("mode", mode)
        output.appendOption("beep_timeout", beepTimeout)
        output.endObject(otherOptions)
    }
}
