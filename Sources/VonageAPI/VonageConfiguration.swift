// SPDX-License-Identifier: MIT
//
// Where Vonage is asked, and every bound that its client keeps, each with its reason.

/// A region of Vonage's: users live in one, and the Client SDK finds those of the region that it connects to.
package enum VonageRegion: String, Sendable, CaseIterable {
    case us, eu, ap

    /// `api.nexmo.com` belongs to no region, and so leaves open where a user will live.
    package var api: String { "https://api-\(rawValue)-3.vonage.com" }
}

package struct VonageConfiguration: Sendable {
    /// Of users and conversations: `https://HOST`, without a slash at its end.
    package var api: String
    /// Of video sessions, the same for all regions.
    package var video: String
    /// Milliseconds for all that one question takes, with what it waits and its repetitions.
    package var time: Int64 = 8000
    /// Requests to one host at once: as many as there are connections to it.
    package var atOnce = 8
    /// Requests that wait for one of these. More could not be answered in time, with a tenth of a second for each.
    package var mostWaiting = 256
    /// How often a request is sent again.
    package var repetitions = 2
    /// Milliseconds before the first and the second repetition, unless the answer says how long.
    package var pauses: [Int64] = [200, 600]
    /// Bytes of an answer: a page of a hundred users has some 50 KiB.
    package var largestAnswer = 4 * 1024 * 1024
    /// Pages of a list, of a hundred each.
    package var mostPages = 100

    package static let defaultVideo = "https://video.api.vonage.com"

    package init(api: String = VonageRegion.us.api, video: String = defaultVideo) {
        self.api = api
        self.video = video
    }
}
