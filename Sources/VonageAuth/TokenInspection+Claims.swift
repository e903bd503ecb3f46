// SPDX-License-Identifier: MIT
//
// What is known of each claim: its meaning in words, and Vonage's rules for it. Times are whole seconds, of any size, so sums are checked.

internal import HTTPWire
internal import JSON
internal import NCCO

/// A payload's members by name.
struct Claims {
    let members: [JSONNode.Member]

    init(_ members: [JSONNode.Member]) { self.members = members }

    /// The first of this name, as most readers take the last and duplicates are an error anyway.
    subscript(name: String) -> JSONNode? { members.first { $0.name.value == name }?.node }

    /// Decided by what only one kind has.
    var kind: TokenInspection.Kind {
        if self["iss"]?.text == "Vonage", self["api_key"] != nil || self["payload_hash"] != nil { return .webhook }
        if self["ist"] != nil, self["application_id"] == nil { return .openTok }
        if self["session_id"] != nil || self["scope"]?.text == "session.connect" { return .video }
        if self["sub"] != nil || self["subject"] != nil { return .user }
        return .application
    }
}

/// One look at the claims.
struct ClaimCheck {
    let claims: Claims
    let kind: TokenInspection.Kind
    let now: Int64
    let applicationID: ApplicationID?
    private(set) var findings: [TokenInspection.Finding] = []
    private(set) var secondsLeft: Int64?

    /// How far two clocks may be apart before it is an error, seconds.
    private static let clockDifference: Int64 = 60
    private static let withoutEnd: Int64 = 900

    init(claims: Claims, kind: TokenInspection.Kind, now: Int64, applicationID: ApplicationID?) {
        self.claims = claims
        self.kind = kind
        self.now = now
        self.applicationID = applicationID
    }

    private mutating func error(_ name: String, _ message: String) {
        findings.append(TokenInspection.Finding(severity: .error, name: name, message: message))
    }

    private mutating func warning(_ name: String, _ message: String) {
        findings.append(TokenInspection.Finding(severity: .warning, name: name, message: message))
    }

    mutating func run() {
        checkApplication()
        checkTimes()
        checkID()
        checkSubject()
        checkAccess()
        if kind == .video { checkVideo() }
    }

    private mutating func checkApplication() {
        guard let node = claims["application_id"] else {
            return error("application_id", "it is missing; it must be the id of the Vonage application that the key belongs to")
        }
        guard let text = node.text, let id = ApplicationID(text) else { return error("application_id", "it is no UUID") }
        if let applicationID, applicationID != id { error("application_id", "the token is for another application than \(applicationID)") }
    }

    private mutating func checkTimes() {
        let (began, ends) = (time("iat"), time("exp"))
        if claims["iat"] == nil { error("iat", "it is missing; it must be the time of issue in seconds since 1970") }
        if let began, began > now {
            let ahead = began.subtractingReportingOverflow(now)
            let words =
                "the token is issued \(ahead.overflow ? "far" : duration(ahead.partialValue)) in the future; set the clock of the machine that made it"
            if !ahead.overflow, ahead.partialValue <= Self.clockDifference { warning("iat", words) } else { error("iat", words) }
        }
        if let before = time("nbf"), before > now { error("nbf", "the token is not good yet: \(Self.moment(before))") }
        let end = claims["exp"] == nil ? began.flatMap { Self.sum($0, Self.withoutEnd) } : ends
        guard let end else { return }
        let left = end.subtractingReportingOverflow(now)
        if !left.overflow { secondsLeft = left.partialValue }
        if end <= now {
            let ago = left.overflow ? "long" : duration(-max(left.partialValue, -.max))
            error(
                "exp",
                "the token ended \(ago) ago\(claims["exp"] == nil ? ", 15 min after its issue, since it has no exp" : ""); make a new one")
        } else if claims["exp"] == nil {
            warning("exp", "it is missing, so Vonage takes 15 min from the time of issue")
        }
        guard let ends, let began else { return }
        let lifetime = ends.subtractingReportingOverflow(began)
        let most = kind == .video ? VideoToken.lifetimes.upperBound : UserToken.lifetimes.upperBound
        if lifetime.overflow || lifetime.partialValue > most {
            let length = lifetime.overflow ? "very long" : duration(lifetime.partialValue)
            error("exp", "the token is made for \(length), and Vonage takes \(duration(most)) at most (seconds, not milliseconds)")
        } else if lifetime.partialValue < ApplicationToken.lifetimes.lowerBound {
            error("exp", "the token is made for \(duration(lifetime.partialValue)), and Vonage takes 30 s at least")
        }
    }

    /// Nil where it is not there or is no time, which is a finding.
    private mutating func time(_ name: String) -> Int64? {
        guard let node = claims[name] else { return nil }
        if let seconds = node.seconds, seconds >= 0 { return seconds }
        let why =
            switch node.kind {
            case .string: "it is text"
            case .number: "it is no whole number of seconds since 1970, or one that no date has"
            default: "it is no number"
            }
        error(name, "\(why); it must be whole seconds since 1970 without quotes")
        return nil
    }

    private mutating func checkID() {
        guard let node = claims["jti"] else { return error("jti", "it is missing; each token needs an id of its own, a UUID") }
        guard let text = node.text, !text.isEmpty else { return error("jti", "it must be text, a UUID") }
        if text.utf8.count > 256 { warning("jti", "it has more than 256 bytes; a UUID has 36") }
    }

    private mutating func checkSubject() {
        if claims["subject"] != nil {
            error("subject", "there is no such claim; it is named sub (Vonage's Python package writes this in video tokens)")
        }
        guard let node = claims["sub"] else {
            if kind == .video { warning("sub", "it is missing; video tokens have \"video\"") }
            if kind == .application, claims["acl"] != nil {
                warning("sub", "it is missing, so this is no user's token: to log in with the Client SDK, sub must be the user's name")
            }
            return
        }
        guard let name = node.text else { return error("sub", "it must be text: the user's name") }
        if kind == .video {
            if name != "video" { warning("sub", "it is \(printable(name)); video tokens have \"video\"") }
            return
        }
        if let fault = TokenRule.faultOfName(name) { error("sub", fault) }
        if name == "video" { warning("sub", "\"video\" is for video tokens, and this one has no session_id") }
        if name.hasPrefix("USR-") { warning("sub", "this looks like a user's id; sub is the user's name") }
    }

    private mutating func checkAccess() {
        guard let node = claims["acl"] else {
            if let stray = claims["paths"] ?? claims["ACL"], stray.kind == .object {
                error("acl", "it is missing; the paths belong into acl.paths")
            } else if kind == .user {
                error("acl", "it is missing; a user's token says what it opens: {\"paths\":{\"/*/sessions/**\":{}}} and so on")
            }
            return
        }
        for fault in AccessList.faults(node) { error("acl", fault) }
        let paths = AccessList.paths(node)
        if kind == .user, !paths.isEmpty, !paths.contains("/**"), !paths.contains("/*/**") {
            let missing = AccessList.areas.filter { !paths.contains("/*/\($0.name)/**") && $0.name != "rtc" && $0.name != "applications" }
            if missing.contains(where: { $0.name == "sessions" }) {
                warning("acl", "without the path /*/sessions/** the user cannot log in")
            }
            if missing.contains(where: { $0.name == "legs" }) { warning("acl", "without the path /*/legs/** calls do not work") }
        }
    }

    private mutating func checkVideo() {
        if claims["scope"]?.text != "session.connect" { error("scope", "it must be \"session.connect\"") }
        switch claims["session_id"] {
        case nil: error("session_id", "it is missing; it is what Vonage answered when the session was made")
        case let node?: if (node.text ?? "").isEmpty { error("session_id", "it must be text") }
        }
        if let node = claims["role"] {
            let roles = VideoToken.Role.allCases.map(\.rawValue)
            if node.text.flatMap(VideoToken.Role.init(rawValue:)) == nil {
                error("role", "it must be one of \(roles.joined(separator: ", "))")
            }
        }
        if claims["data"] != nil {
            error("data", "there is no such claim; it is named connection_data (Vonage's Ruby package writes this)")
        }
        for name in ["connection_data", "initial_layout_class_list"] {
            guard let node = claims[name] else { continue }
            guard let text = node.text else {
                let isList = name != "connection_data" && node.kind == .array
                error(
                    name,
                    isList
                        ? "it is a list (as Vonage's Python package writes it); it must be text, the names with one blank between"
                        : "it must be text")
                continue
            }
            if text.unicodeScalars.count > VideoToken.longestText { error(name, "it has more than \(VideoToken.longestText) characters") }
        }
    }

    /// What a claim means.
    func words(of member: JSONNode.Member) -> String {
        let node = member.node
        switch member.name.value {
        case "application_id": return "the Vonage application whose key signs"
        case "iat": return node.seconds.map { "issued \(Self.moment($0))" } ?? ""
        case "exp": return node.seconds.map { "ends \(Self.moment($0))\(Self.distance($0, now))" } ?? ""
        case "nbf": return node.seconds.map { "good from \(Self.moment($0))" } ?? ""
        case "jti": return "this token's own id"
        case "sub": return kind == .video ? "a video client" : kind == .user ? "the name of the user who logs in" : ""
        case "acl":
            if kind == .video, AccessList.paths(node) == AccessList.video.paths { return "opens video sessions" }
            let paths = AccessList.paths(node)
            guard !paths.isEmpty else { return "" }
            let known = AccessList.areas.filter { paths.contains("/*/\($0.name)/**") }.map { "\($0.name) (\($0.words))" }
            let others = paths.count - known.count
            let more = others > 0 ? [others == 1 ? "1 other path" : "\(others) other paths"] : []
            return "opens " + (known + more).joined(separator: ", ")
        case "scope": return node.text == "session.connect" ? "connects to a session" : ""
        case "session_id": return "the video session"
        case "role": return node.text.flatMap(VideoToken.Role.init(rawValue:))?.words ?? ""
        case "connection_data": return "what other clients can read"
        case "initial_layout_class_list": return node.text == "" ? "no layout classes" : "layout classes"
        default: return "not known here"
        }
    }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64? {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? nil : sum
    }

    private static func moment(_ seconds: Int64) -> String {
        guard TokenRule.times.contains(seconds) else { return seconds < 0 ? "before 1970" : "after the year 9999" }
        var text: [UInt8] = []
        appendHTTPDate(seconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func distance(_ end: Int64, _ now: Int64) -> String {
        let (left, overflow) = end.subtractingReportingOverflow(now)
        guard !overflow, left > .min else { return "" }
        return left > 0 ? ", in \(duration(left))" : ", \(duration(-left)) ago"
    }
}
