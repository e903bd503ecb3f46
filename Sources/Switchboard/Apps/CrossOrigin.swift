// SPDX-License-Identifier: MIT
//
// Which pages of other origins a browser lets read what apps are answered (Fetch §3.2, "CORS protocol"). It protects nothing here: who is no
// browser never asks. Off unless an origin is named, and never with a browser's credentials.

import HTTPWire

extension RequestHandler {
    /// Adds what a browser wants to see, where the path is one that apps ask for and settings name origins.
    func crossOrigin(_ response: Response, _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Response {
        let settings = application.settings
        guard settings.opensApps, !settings.corsOrigins.isEmpty, Routing.isForApps(head, bytes: bytes, flows: flows.set) else {
            return response
        }
        var response = response
        response.fields.append(crossOriginFields(head, bytes))
        return response
    }

    /// Empty where nothing is to be added. For routes of apps alone.
    func crossOriginFields(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> FieldBlock {
        var fields = FieldBlock()
        let settings = application.settings
        guard settings.opensApps, !settings.corsOrigins.isEmpty else { return fields }
        // A cache must not give one origin what was meant for another.
        fields.append("Vary", "Origin")
        guard let field = head.value(of: "origin", in: bytes), (1...300).contains(field.count) else { return fields }
        let origin = bytes.text(field)
        guard settings.corsOrigins.contains("*") || settings.corsOrigins.contains(origin.lowercased()) else { return fields }
        fields.append("Access-Control-Allow-Origin", settings.corsOrigins.contains("*") ? "*" : origin)
        guard head.method == .options else {
            fields.append("Access-Control-Expose-Headers", "Retry-After")
            return fields
        }
        fields.append("Access-Control-Allow-Methods", "GET, HEAD, POST")
        fields.append("Access-Control-Allow-Headers", "Content-Type")
        // Browsers keep to two hours at most (Chromium).
        fields.append("Access-Control-Max-Age", "7200")
        return fields
    }
}
