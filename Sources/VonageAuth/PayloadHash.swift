// SPDX-License-Identifier: MIT
//
// What `payload_hash` is made of: the raw bytes of a POST; for a GET the compact JSON object of the decoded parameters, all of them texts, in the
// order of the URL, escaped as JavaScript's JSON.stringify does. Where the URL that was given to Vonage has parameters of its own, they are tried
// with and without, since no page of Vonage's says which holds.

internal import HTTPWire
internal import JSON

/// A query as the JSON object that is hashed.
struct QueryPayload {
    private var parameters = Parameters()
    private(set) var json: [UInt8] = []

    /// - Parameter skipped: so many parameters at the start are left out.
    mutating func read(_ query: Range<Int>, in text: Span<UInt8>) {
        parameters.removeAll()
        parameters.parse(query, in: text)
        write(skipping: 0)
    }

    mutating func write(skipping skipped: Int) {
        json.removeAll(keepingCapacity: true)
        json.append("{")
        // A reference for the time of the call, so that the other buffer may be written to.
        let parameters = parameters
        let bytes = parameters.bytes.span
        for index in parameters.entries.indices.dropFirst(skipped) {
            let entry = parameters.entries[index]
            if index > skipped { json.append(",") }
            json.appendJSONString(bytes.extracting(entry.name))
            json.append(":")
            json.appendJSONString(bytes.extracting(entry.value))
        }
        json.append("}")
    }

    /// How many parameters stand before the first that Vonage sends.
    var ownCount: Int {
        let bytes = parameters.bytes.span
        return parameters.entries.firstIndex { WebhookParameterNames.mayBeTakenForVonages(bytes.text($0.name)) } ?? 0
    }

    /// Whether a name comes twice, by the object that has been written: looked at once its hash fits.
    var hasRepeatedName: Bool {
        var copy: [UInt8] = []
        guard let summary = try? minifyJSON(json.span, into: &copy) else { return true }
        return summary.duplicateKey != nil
    }
}
