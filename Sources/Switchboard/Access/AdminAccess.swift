// SPDX-License-Identifier: MIT
//
// Who is the admin: whoever sends the admin token as a bearer, or the cookie of a session that began with it. Two things keep other people's
// pages from using a browser that is logged in, beside `SameSite=Strict`: a request that says where it comes from must come from here, and one
// that changes something must carry its session's page token.

import HTTPWire
import VonageAuth

/// What a request may do.
enum AdminAccess: Equatable {
    case stranger
    /// The place of the session's cookie in the request, where there is one.
    case admin(session: Range<Int>?)
    /// It has what an admin has, but another page sent it.
    case otherOrigin
    /// It has a session, and would change something without its page token.
    case noPageToken

    var isAdmin: Bool { if case .admin = self { true } else { false } }

    /// Why a request that has what an admin has is none; nil for the others.
    var refusal: Response? {
        switch self {
        case .stranger, .admin: nil
        case .otherOrigin: Self.sentFromElsewhere
        case .noPageToken:
            .problem(.forbidden, "The page token is missing or not this session's: send it as X-CSRF-Token or as csrf in a form.")
        }
    }

    static let sentFromElsewhere = Response.problem(.forbidden, "Another page sent this request; open the page of this server itself.")

    /// - Parameters:
    ///   - body: empty where it is not there yet; a page token in it then counts as sent.
    init(
        _ credentials: AdminCredentials?, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, isWhole: Bool,
        sessions: Sessions?, own: OwnHosts
    ) {
        guard let credentials else {
            self = .stranger
            return
        }
        guard own.sent(head, bytes) else {
            self = .otherOrigin
            return
        }
        self = .admin(session: credentials.session)
        let changes = head.method != .get && head.method != .head && head.method != .options
        guard changes, let session = credentials.session else { return }
        guard let token = sessions?.pageToken(of: session, in: bytes) else {
            self = .noPageToken
            return
        }
        if let field = head.value(of: "x-csrf-token", in: bytes) {
            let given = Digest256(hex: bytes.extracting(field))
            if !(given.map(token.equals) ?? false) { self = .noPageToken }
            return
        }
        guard isWhole || !isForm(head, bytes) else { return }
        var form = Parameters()
        if isForm(head, bytes), !head.isEncoded { form.parse(0..<body.count, in: body) }
        let text = form.bytes
        let given = form.value(of: "csrf").flatMap { Digest256(hex: text.span.extracting($0)) }
        if !(given.map(token.equals) ?? false) { self = .noPageToken }
    }
}

private func isForm(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let type = head.contentType else { return false }
    let end = type.first { bytes[$0] == UInt8(ascii: ";") || bytes[$0] == UInt8(ascii: " ") } ?? type.upperBound
    return bytes.equalsIgnoringCase("application/x-www-form-urlencoded", at: type.lowerBound..<end)
}

/// What makes an admin, as it was sent.
struct AdminCredentials {
    let session: Range<Int>?

    /// Nil where there is neither the token nor a session.
    ///
    /// - Parameter now: Unix seconds.
    init?(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, token: AdminToken, sessions: Sessions?, now: Int64) {
        session = sessions?.find(in: head.cookie, bytes, now: now)
        guard session != nil || token.matches(head.authorization, in: bytes) else { return nil }
    }
}

/// The names under which this server was asked, as far as they can be believed.
struct OwnHosts {
    private var hosts: [String]
    /// Whoever writes pages for plain HTTP under our name is not us, where TLS is spoken.
    private let isSecure: Bool

    /// - Parameter publicURL: of the settings: a proxy may pass on neither the host nor its own name.
    init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ forwarded: Forwarded, publicURL: String?) {
        // A page on another name cannot make a browser send a Host that is not the name it asks.
        hosts = [bytes.text(head.authority).lowercased()]
        isSecure = forwarded.isSecure
        if let host = forwarded.host { hosts.append(host) }
        if let publicURL, let start = publicURL.firstRange(of: "://") {
            hosts.append(String(publicURL[start.upperBound...].prefix { $0 != "/" }).lowercased())
        }
    }

    /// Whether all that a browser says of the request's origin names this server. Who is no browser says nothing (Fetch §3.2, Fetch Metadata §2.4).
    func sent(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
        for field in head.fields {
            if bytes.equalsIgnoringCase("origin", at: field.name) {
                guard isOwn(field.value, bytes) else { return false }
            } else if bytes.equalsIgnoringCase("sec-fetch-site", at: field.name) {
                // `none`: a person typed the address or followed a bookmark.
                guard bytes.equalsExactly("same-origin", at: field.value) || bytes.equalsExactly("none", at: field.value) else {
                    return false
                }
            }
        }
        return true
    }

    /// `scheme://host[:port]`; also `null`, which any sandboxed page sends, is not ours.
    private func isOwn(_ origin: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard origin.count <= 300 else { return false }
        let text = bytes.text(origin).lowercased()
        for scheme in isSecure ? [Forwarded.Scheme.https] : [.http, .https] where text.hasPrefix("\(scheme.rawValue)://") {
            let host = withoutStandardPort(String(text.dropFirst(scheme.rawValue.utf8.count + 3)), scheme)
            return !host.isEmpty && hosts.contains { withoutStandardPort($0, scheme) == host }
        }
        return false
    }
}
