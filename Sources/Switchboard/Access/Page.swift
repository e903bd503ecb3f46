// SPDX-License-Identifier: MIT
//
// The pages for people: plain HTML that works without scripts and takes nothing from anywhere else. Every text of the log-in is ours; what came in
// is never shown. What stands at `/` is in `HomePage`, its fields are here.

import HTTPWire

enum Page {
    /// The form that takes the admin token.
    ///
    /// - Parameters:
    ///   - prefix: below which a proxy shows this server; unreserved characters and slashes.
    ///   - message: what went wrong, in fixed words.
    static func login(_ status: Status = .ok, prefix: String, message: String? = nil, fields more: FieldBlock = FieldBlock()) -> Response {
        let text = """
            <h1>Switchboard</h1>
            \(message.map { "<p role=\"alert\">\($0)</p>\n" } ?? "")<form method="post" action="\(prefix)/login">
            <p><label for="token">Admin token</label></p>
            <p><input id="token" name="token" type="password" required autofocus autocomplete="current-password" size="48"></p>
            <p><button>Log in</button></p>
            </form>
            <p>The start of the server prints it on a terminal; else it is where <code>switchboard serve</code> says, mostly in
            <code>events/admin-token</code>.</p>
            """
        var fields = more
        fields.append("Content-Security-Policy", "\(policy); script-src 'self'; style-src 'self'")
        let head = """
            <link rel="stylesheet" href="\(prefix)/page/\(PageFiles.style)">
            <script src="\(prefix)/login.js" defer></script>

            """
        return page(status, title: "Log in", head: head, text, fields)
    }

    /// What the admin finds at `/`: a page whose scripts and styles come from here.
    static func home(_ html: String) -> Response {
        var fields = FieldBlock()
        fields.append(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        )
        return Response(.ok, fields: standard(fields), contentType: .html, body: Array(html.utf8))
    }

    /// Fills in the token that stands behind the `#` of a log-in link, which a browser sends to nobody, and sends the form. A token begins with
    /// no slash: one that does is escaped in the link.
    static let loginScript: Response = {
        let script = """
            "use strict";
            const link = location.hash.slice(1);
            if (link.startsWith("/")) {
              // A place on the page, and no token: it comes back with the answer to the form.
              document.querySelector("form").action += `#${link}`;
            } else if (link !== "") {
              history.replaceState(null, "", location.pathname);
              let token = link;
              try { token = decodeURIComponent(link); } catch {}
              document.getElementById("token").value = token;
              document.querySelector("form").submit();
            }

            """
        return Response(.ok, fields: standard(FieldBlock()), contentType: .script, body: Array(script.utf8))
    }()

    /// Sends a browser on with a GET.
    static func seeOther(_ path: String, cookie: String? = nil) -> Response {
        var fields = FieldBlock()
        fields.append("Location", path)
        if let cookie { fields.append("Set-Cookie", cookie) }
        return Response(.seeOther, fields: standard(fields))
    }

    /// Nothing is allowed but what a page names: no frame, nothing from elsewhere.
    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    /// What all pages carry. `same-origin` says no more to others than `no-referrer` does; with that one browsers send forms with
    /// `Origin: null` (Fetch §3.2), which cannot be told from a hostile page's.
    private static func standard(_ more: FieldBlock) -> FieldBlock {
        var fields = more
        fields.append("Referrer-Policy", "same-origin")
        fields.append("X-Frame-Options", "DENY")
        fields.append("Cache-Control", "no-store")
        return fields
    }

    private static func page(_ status: Status, title: String, head: String, _ text: String, _ fields: FieldBlock) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            \(head)</head>
            <body>
            \(text)
            </body>
            </html>

            """
        return Response(status, fields: standard(fields), contentType: .html, body: Array(html.utf8))
    }
}
