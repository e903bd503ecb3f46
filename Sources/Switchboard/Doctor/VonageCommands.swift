// SPDX-License-Identifier: MIT
//
// The lines for Vonage's own command line, version 3, that link an application and its numbers to this server. They are printed and never run.

package import NCCO

package enum VonageCommands {
    /// - Parameter baseURL: where Vonage reaches the server; nil where that is not known yet.
    package static func lines(applicationID: String?, numbers: [PhoneNumber], baseURL: String?) -> [String] {
        let id = applicationID ?? "APPLICATION_ID"
        let base = baseURL ?? "https://PUBLIC_ADDRESS"
        var lines: [String] = []
        if applicationID == nil { lines.append("vonage apps create 'Switchboard'") }
        lines.append(
            """
            vonage apps capabilities update \(id) voice --voice-answer-url=\(quoted("\(base)/voice/answer")) --voice-answer-http=GET \
            --voice-event-url=\(quoted("\(base)/voice/event")) --voice-event-http=POST --voice-fallback-url=\(quoted("\(base)/voice/fallback")) \
            --voice-fallback-http=GET
            """)
        for number in numbers.isEmpty ? ["NUMBER"] : numbers.map(\.description) { lines.append("vonage apps numbers link \(id) \(number)") }
        return lines
    }

    /// For a shell: within single quotes it takes all but a single quote as it is.
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
