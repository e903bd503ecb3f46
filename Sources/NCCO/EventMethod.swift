// SPDX-License-Identifier: MIT
//
// How Vonage sends an event; every action that causes events takes it.

/// The HTTP method of events; Vonage takes `POST` when absent.
///
/// - Source: Vonage Voice API, NCCO reference, option `eventMethod`.
public enum EventMethod: String, Hashable, Sendable, CaseIterable {
    /// Values in the query.
    case get = "GET"
    /// A JSON body.
    case post = "POST"
}
