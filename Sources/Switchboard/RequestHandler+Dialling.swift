// SPDX-License-Identifier: MIT
//
// What is asked of an NCCO before it goes out, and said where it must not: whether a call may still be made now. What numbers may be dialled is
// asked while a template is filled.

import HTTPServer
import HTTPWire
import NCCO

extension RequestHandler {
    /// What is served in the end, which is a refusal where the NCCO would make a call too many; and that is counted and said.
    ///
    /// - Parameter ncco: holds what was served and nothing else.
    func limited(
        _ served: Served, _ flow: Int, _ request: inout FlowRequest, _ exchange: Exchange, baseURL: [UInt8], into ncco: inout [UInt8]
    ) -> Served {
        var served = served
        if served.dials, let limits = application.callLimits,
            let limit = limits.take(flows.set.party(&request), now: exchange.began)
        {
            served = flows.set.refuse(served, past: limit, flow, &request, baseURL: baseURL, into: &ncco)
        }
        switch served.cause {
        case .rule: break
        case .fault: statistics.count(statistics.unfilledTemplates)
        case .denied(let denied):
            statistics.count(statistics.deniedNumbers)
            say(application.deniedNumberNotice, exchange) {
                "a call to \(denied.number.masked) was refused: \(flows.set.dialPlan.words(denied.denial))"
            }
        case .overLimit(.user):
            statistics.count(statistics.overUserLimit)
            say(application.userLimitNotice, exchange) {
                "a call was refused: its user is past --max-calls-per-user\(application.callsPerUser.map { " \($0)" } ?? "")"
            }
        case .overLimit(.all):
            statistics.count(statistics.overCallLimit)
            say(application.callLimitNotice, exchange) {
                "a call was refused: all calls together are past --max-calls\(application.settings.maxCalls.map { " \($0)" } ?? "")"
            }
        }
        return served
    }

    private func say(_ notice: SpacedNotice, _ exchange: Exchange, _ words: () -> String) {
        guard let unsaid = notice.turn(now: exchange.began) else { return }
        application.errors.print(words() + (unsaid == 0 ? "" : " (and \(unsaid) more since this was last said)"))
    }
}
