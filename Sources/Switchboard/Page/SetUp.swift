// SPDX-License-Identifier: MIT
//
// What somebody must know who sets the server up: the URLs to paste, what is set, and what is missing with its cure. The judgements are those
// of `switchboard doctor` that need neither a file nor a network, so that asking costs nothing.

import EventLog
import NCCO
import VonageAuth

struct SetUp {
    private let application: Application
    /// Without a slash at the end.
    private let base: String
    private let isPublic: Bool

    /// - Parameters:
    ///   - base: where Vonage reaches the server, as far as it is known.
    ///   - isPublic: whether somebody has said so; else it is the address on this machine.
    init(_ application: Application, base: String, isPublic: Bool) {
        self.application = application
        self.base = base
        self.isPublic = isPublic
    }

    private var applicationProblem: String? {
        guard let apps = application.apps else { return "this server has no users and no rooms" }
        return apps.credentials.missing
    }

    private var logReasons: [String] {
        if case .degraded(let reasons) = application.log.status.health { reasons } else { [] }
    }

    /// What is not as it should be, with what to do.
    var missing: [(what: String, cure: String)] {
        var missing: [(what: String, cure: String)] = []
        if !isPublic {
            missing.append(
                ("Vonage cannot reach an address on this machine", "start a tunnel and pass its address as --public-url (PUBLIC_URL)"))
        }
        let doctor = Doctor(application.settings, now: application.now)
        for finding in [doctor.number] + doctor.secret(.success(application.webhooks?.verifier.secrets)) + [doctor.clock]
        where finding.verdict != .ok {
            missing.append(("\(finding.subject.rawValue): \(finding.text)", finding.cure ?? ""))
        }
        if application.apps != nil, let problem = applicationProblem {
            missing.append(("application: users, tokens and rooms cannot be made", problem))
        }
        if let problem = application.flows.problem {
            missing.append(("flows: those from before are served", problem))
        }
        if application.settings.opensApps, application.settings.allowPrefixes.isEmpty {
            missing.append(("open apps: whoever finds the address can call at your cost", "say with --allow-prefixes where to"))
        }
        return missing
    }

    /// `{"version","answer_url","event_url","fallback_url","is_public","numbers",…}`.
    var json: String {
        let settings = application.settings
        var lines = JSONLines()
        func text(_ text: String?) -> String { text.map(JSONLines.quoted) ?? "null" }
        lines.open()
        lines.add("version", switchboardVersion)
        for name in ["answer", "event", "fallback"] { lines.add("\(name)_url", "\(base)/voice/\(name)") }
        lines.add("is_public", literal: "\(isPublic)")
        lines.add("numbers", list: settings.numbers.map(\.description))
        lines.add("inbound_user", settings.inboundUser.description)
        lines.open("application")
        lines.add("id", literal: text(application.apps?.credentials.applicationID?.description))
        lines.add("problem", literal: text(applicationProblem))
        lines.close()
        lines.open("webhooks")
        lines.add("signed", literal: "\(application.webhooks != nil)")
        lines.add("unsigned", (application.webhooks?.unsigned ?? .accept).rawValue)
        lines.close()
        lines.open("log")
        lines.add("folder", settings.events)
        lines.add("state", logReasons.isEmpty ? "ok" : "degraded")
        lines.add("reasons", list: logReasons)
        lines.close()
        lines.add("flows", application.flows.summary)
        lines.open("missing", "[")
        for (what, cure) in missing {
            lines.open()
            lines.add("what", what)
            lines.add("cure", cure)
            lines.close()
        }
        lines.close("]")
        lines.add("opens_apps", literal: "\(settings.opensApps)")
        lines.add("can_play", literal: "\(application.player != nil)")
        lines.close()
        return lines.text + "\n"
    }

    /// The same for people, as a list of terms.
    var html: String {
        let settings = application.settings
        var terms = [
            ("Answer URL", "\(base)/voice/answer"), ("Event URL", "\(base)/voice/event"), ("Fallback URL", "\(base)/voice/fallback"),
            ("Number", settings.numbers.isEmpty ? "none" : settings.numbers.map(\.description).joined(separator: ", ")),
            ("Application", application.apps?.credentials.applicationID?.description ?? "none"),
            ("Webhooks", application.webhooks == nil ? "taken from anybody" : "signed"),
            ("Event log", "\(settings.events): \(logReasons.isEmpty ? "ok" : logReasons.joined(separator: "; "))"),
            ("Flows", application.flows.summary),
        ]
        terms += missing.map { ("Missing", "\($0.what) \u{2192} \($0.cure)") }
        let list = terms.map { "<dt>\(HomePage.escaped($0.0))</dt><dd>\(HomePage.escaped($0.1))</dd>" }
        return "<dl>\n\(list.joined(separator: "\n"))\n</dl>"
    }
}
