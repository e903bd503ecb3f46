// SPDX-License-Identifier: MIT
//
// Asks a server whether it answers: one GET of `/health`.

package struct HealthProbe: Sendable {
    private let client: HTTPRequestClient

    /// - Throws: `usage` for a URL that cannot be asked.
    package init(url: String) throws(HTTPRequestError) { client = try HTTPRequestClient(url: url) }

    /// Returns the first line of the answer's body.
    ///
    /// - Throws: also for an answer other than 200.
    package func ask(milliseconds: Int32) throws(HTTPRequestError) -> String {
        let path = client.prefix.hasSuffix("/health") ? "" : "/health"
        let answer = try client.send("GET", path, milliseconds: milliseconds, maximumAnswer: 64 * 1024)
        guard answer.status == 200 else {
            let hint = answer.status == 400 && client.url.hasPrefix("http://") ? "; a port that speaks TLS is asked with https://" : ""
            throw HTTPRequestError(fault: .noAnswer, description: "\(client.url) answers \(answer.statusLine)\(hint)")
        }
        return String(decoding: answer.body.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
