// SPDX-License-Identifier: MIT
//
// What the states of a leg mean for its life: their order where two have the same time, and which of them end it.
//
// Source: Vonage Voice API, webhook reference, event webhook; Vonage support, "Call event order": `completed` may come before `busy`,
// `cancelled` or `timeout`, and none comes after `rejected`.

/// Words of `status` that Vonage sends for a leg.
package enum CallState: String, Hashable, Sendable, CaseIterable {
    case started, ringing, answered, completed
    case busy, cancelled, timeout, unanswered, rejected, failed
    /// A WebSocket that its server closed.
    case disconnected

    /// It ended without having been answered.
    package var isFailure: Bool {
        switch self {
        case .busy, .cancelled, .timeout, .unanswered, .rejected, .failed: true
        default: false
        }
    }

    /// No other state but `completed` follows.
    var isEnd: Bool { isFailure || self == .completed || self == .disconnected }
}

/// Where a step stands among others of the same time.
enum StepRank {
    static func of(kind: String, status: String?) -> UInt8 {
        if kind == "answer" { return 0 }
        if kind == "fallback" { return 1 }
        switch status {
        case "started": return 2
        case "ringing": return 3
        case "answered": return 4
        case "human", "machine": return 5
        case "disconnected": return 8
        case "busy", "cancelled", "timeout", "unanswered", "rejected", "failed": return 9
        case "completed": return 10
        case "record": return 11
        case "transcribed": return 12
        case "error": return 6
        default: return 7
        }
    }
}
