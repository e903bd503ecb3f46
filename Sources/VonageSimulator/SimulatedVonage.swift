// SPDX-License-Identifier: MIT
//
// Vonage's side as one value: a request goes in, an answer comes out, and what was made is kept in between. It knows no socket, no file and no
// clock; time and ids are given. Each API has a file of its own; here are who may ask what, and the way of a request to it.

package import HTTPWire
import JSON
package import VonageAuth

package struct SimulatedVonage: Sendable {
    /// How it behaves where Vonage's behaviour differs from place to place, or is not known for certain.
    package struct Rules: Sendable, Hashable {
        /// With which status a name that is taken is refused: 400 or 409. Clients in the wild have met both.
        package var duplicateStatus = Status.badRequest
        /// Whether a list of users by a name that nobody has is an empty page, and not 404.
        package var unknownNameIsEmpty = false
        /// Whether what was made in one region is not found in another.
        package var hasRegionTrap = false
        /// Whether more than 3 calls or 15 other requests for calls a second are refused, as Vonage does.
        package var limitsCallRate = true
        /// Whether whoever is called answers at once. Off for whoever plays the calls: see `CallOrder` and `advance`.
        package var answersCalls = true
        /// Calls that are played at one time.
        package var mostPlayed = 1000
        /// API key and secret that the Application API wants; nil takes any.
        package var account: Account?

        package init() {}
    }

    package struct Account: Sendable, Hashable, CustomStringConvertible {
        let credentials: [UInt8]

        package init(key: String, secret: String) { credentials = Array("\(key):\(secret)".utf8) }

        package var description: String { "an API key with its secret" }
    }

    /// Most of each that is kept; Vonage keeps more, and a program that makes more here is probably in a loop.
    package static let mostUsers = 10_000
    package static let mostConversations = 10_000
    package static let mostCalls = 10_000
    /// Bytes of users, conversations or calls that are kept, as JSON.
    package static let mostBytes = 16 * 1024 * 1024
    /// Regions with a path prefix of their own: `/us/v1/users`. Without one it is the first.
    package static let regions = ["us", "eu", "ap"]

    package let applicationID: ApplicationID
    package let rules: Rules
    let publicKey: PublicKey
    private let verifier: TokenVerifier
    private let makeID: @Sendable () -> String
    private var trouble: TroublePlan

    var users = Shelf<SimulatedUser>()
    var conversations = Shelf<SimulatedConversation>()
    var calls = Shelf<SimulatedCall>()
    var application = SimulatedApplication()
    /// When the next empty conversation may have lived long enough.
    var nextExpiry = Int64.max
    /// Requests for calls in the second that is named.
    var callRate = (second: Int64(0), creates: 0, others: 0)
    var hasChanged = false
    /// What the present request wants of whoever plays the calls.
    var orders: [CallOrder] = []

    /// - Parameter ids: gives a UUID in lower case, a new one each time.
    package init(
        applicationID: ApplicationID, publicKey: PublicKey, rules: Rules = Rules(), trouble: Trouble? = nil,
        ids: @escaping @Sendable () -> String
    ) {
        self.applicationID = applicationID
        self.publicKey = publicKey
        self.rules = rules
        self.trouble = TroublePlan(trouble)
        verifier = TokenVerifier(key: publicKey, applicationID: applicationID)
        makeID = ids
    }

    func newID() -> String { makeID() }

    // MARK: A request's way

    /// - Parameter now: milliseconds since 1970.
    package mutating func answer(_ request: SimulatedRequest, at now: Int64) -> SimulatedAnswer {
        hasChanged = false
        orders = []
        let trouble = trouble.next()
        let place = Place(request)
        // What a gateway in front answers reaches nobody behind it.
        if let trouble, let response = trouble.instead(place.family, trace: newID()) { return SimulatedAnswer(response: response) }
        expire(at: now)
        let response: Response
        do throws(APIProblem) {
            response = try route(request, place, at: now)
        } catch {
            response = error.response(place.family, trace: newID())
        }
        var answer = SimulatedAnswer(response: response, hasChanged: hasChanged, orders: orders)
        trouble?.spoil(&answer)
        return answer
    }

    private mutating func route(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        guard let collection = place.collection else { throw .notFound }
        if collection == .applications {
            try checkAccount(request)
            return try answerApplication(request, place)
        }
        let caller = try authenticate(request, place, at: now)
        switch collection {
        case .users: return try answerUsers(request, place, caller, at: now)
        case .conversations: return try answerConversations(request, place, at: now)
        case .sessions: return try answerSession(request, place, at: now)
        case .calls:
            try countCallRequest(request, place, at: now)
            return try answerCalls(request, place, at: now)
        case .applications: throw .notFound
        }
    }

    private func authenticate(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> VerifiedToken {
        func refuse(_ detail: String) -> APIProblem { APIProblem(.unauthorized, "system:error:invalid-token", detail) }
        guard let field = request.authorization else { throw refuse("Authorization with a Bearer token is missing.") }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw refuse("Authorization is not Bearer with a token.") }
        let token: VerifiedToken
        do throws(TokenRefusal) {
            token = try verifier.verify(Array(parts[1].utf8), at: now / 1000)
        } catch {
            let code = error.fault == .expired ? "system:error:expired-token" : "system:error:invalid-token"
            throw APIProblem(.unauthorized, code, "The token was refused: \(error).")
        }
        guard token.allows("\(request.method.name)", place.path) else {
            throw .permission("The token's acl does not open this path to \(request.method.name).")
        }
        if let name = token.subject, users.named(name) == nil { throw refuse("The token's sub is no user of this application.") }
        return token
    }

    /// RFC 7617, with an account's API key and secret.
    private func checkAccount(_ request: SimulatedRequest) throws(APIProblem) {
        let parts = (request.authorization ?? "").split(separator: " ", maxSplits: 1)
        let refusal = APIProblem(.unauthorized, "", "You did not provide correct credentials.")
        guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024 else { throw refusal }
        let digits = parts[1].utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        var given: [UInt8] = []
        guard given.appendDecodedBase64URL(0..<digits.count, in: digits.span) else { throw refusal }
        guard let account = rules.account else {
            let colon = given.firstIndex(of: UInt8(ascii: ":"))
            guard let colon, colon > 0, colon + 1 < given.count else { throw refusal }
            return
        }
        guard constantTimeEquals(given.span, account.credentials.span) else { throw refusal }
    }

    /// Answers with JSON.
    func reply(_ node: JSONNode, _ status: Status = .ok) -> Response { Response(status, body: node.json) }

    func wrongMethod(_ allowed: String) -> APIProblem {
        var problem = APIProblem(.methodNotAllowed, "http:error:method-not-allowed", "This path takes \(allowed).")
        problem.fields.append("Allow", allowed)
        return problem
    }

    /// Where links begin: the host as the client calls it, and the region.
    func base(_ request: SimulatedRequest, region: String, _ place: Place) -> String {
        "http://\(request.authority.isEmpty ? "localhost" : request.authority)\(place.hasRegion || rules.hasRegionTrap ? "/\(region)" : "")"
    }

    /// Whether something that was made in a region can be seen from where a request went.
    func isVisible(_ region: String, _ place: Place) -> Bool { !rules.hasRegionTrap || region == place.region }
}

/// Where a request goes.
struct Place {
    enum Collection { case users, conversations, sessions, calls, applications }

    /// Which shapes are asked for.
    enum Version: String, Comparable {
        case v01 = "v0.1"
        case v02 = "v0.2"
        case v03 = "v0.3"
        case v1

        static func < (one: Version, other: Version) -> Bool { one.rawValue < other.rawValue }
    }

    let region: String
    let hasRegion: Bool
    let family: APIFamily
    let collection: Collection?
    let version: Version
    /// Behind the collection.
    let rest: [String]
    /// As an `acl` sees it: without the region.
    let path: String

    init(_ request: SimulatedRequest) {
        var segments = request.path.split(separator: "/").map(String.init)
        hasRegion = segments.first.map { SimulatedVonage.regions.contains($0) } ?? false
        region = hasRegion ? segments.removeFirst() : SimulatedVonage.regions[0]
        path = "/" + segments.joined(separator: "/")
        let version = segments.first.flatMap(Version.init)
        self.version = version ?? .v1
        switch (segments.first, segments.dropFirst().first) {
        case (_, "users") where version != nil: (collection, family) = (.users, .conversation)
        case (_, "conversations") where version != nil: (collection, family) = (.conversations, .conversation)
        case ("v1", "calls"): (collection, family) = (.calls, .voice)
        case ("session", "create") where segments.count == 2: (collection, family) = (.sessions, .video)
        case ("v2", "applications"): (collection, family) = (.applications, .application)
        default: (collection, family) = (nil, .application)
        }
        rest = Array(segments.dropFirst(2))
    }
}
