// SPDX-License-Identifier: MIT
//
// Who hears a leg: one option for Vonage's two, `mute` and `canSpeak`, which exclude each other.

/// Whom a leg may speak to; everyone when absent.
///
/// - Source: Vonage Voice API, NCCO reference, `conversation` and `transfer`, options `mute` and `canSpeak`.
public enum Speaking: Hashable, Sendable {
    /// Heard by nobody, `mute: true`.
    case muted
    /// Heard by everyone, `mute: false`.
    case unmuted
    /// Heard by these legs alone; by nobody where there are none.
    case to([LegUUID])
}

extension Speaking {
    init?(from options: inout OptionReader) throws(NCCOError) {
        let legs: [LegUUID]? = try options.take("canSpeak")?.texts()
        let mute = try options.take("mute")
        switch (legs, mute) {
        case (nil, nil): return nil
        case (let legs?, nil): self = .to(legs)
        case (nil, let mute?): self = try mute.bool() ? .muted : .unmuted
        case (_?, let mute?): throw mute.refusal("left out together with canSpeak")
        }
    }

    var legs: [LegUUID]? { if case .to(let legs) = self { legs } else { nil } }

    var mute: Bool? {
        switch self {
        case .muted: true
        case .unmuted: false
        case .to: nil
        }
    }
}
