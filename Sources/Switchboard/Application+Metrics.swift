// SPDX-License-Identifier: MIT
//
// `/metrics` in Prometheus' text format 0.0.4.

import EventLog
import HTTPServer
import HTTPWire

extension Application {
    func metrics() -> Response {
        let (counts, server, status) = (counts, serverStatistics, log.status)
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ value: String) {
            text += "# HELP switchboard_\(name) \(help)\n# TYPE switchboard_\(name) \(type)\nswitchboard_\(name) \(value)\n"
        }
        func counter(_ name: String, _ help: String, _ value: Int) { add(name + "_total", "counter", help, "\(value)") }
        func gauge(_ name: String, _ help: String, _ value: Int) { add(name, "gauge", help, "\(value)") }

        add("start_time_seconds", "gauge", "When the process started, since 1970.", "\(startSeconds)")
        gauge("degraded", "1 while something is wrong that health names.", degradation.isEmpty ? 0 : 1)
        counter("connections_accepted", "Connections accepted.", server.accepted)
        gauge("connections_open", "Connections open now.", server.open)
        counter("http_requests", "Requests read.", server.requests)
        counter("http_refused", "Bytes that were no request, or passed a limit.", server.refused)
        counter("http_timeouts", "Connections ended by a time limit.", server.timeouts)
        if let certificates {
            add(
                "tls_certificate_expires_seconds", "gauge", "When the certificate that is served expires, since 1970.",
                "\(certificates.current.expires)")
            counter("tls_handshakes_full", "TLS handshakes with the certificate's signature.", server.fullHandshakes)
            counter("tls_handshakes_resumed", "TLS handshakes that took up an earlier session.", server.resumedHandshakes)
            counter("tls_handshakes_failed", "TLS that ended before its handshake did.", server.failedHandshakes)
        }
        counter("handler_faults", "Requests that failed by a fault of the server.", counts.faults)
        counter("answers", "Answer and fallback requests answered by an NCCO.", counts.answers)
        counter("answers_not_connected", "Answers that say why no call can be made.", counts.cannotConnect)
        counter("answers_unreadable", "Answer requests whose body could not be read.", counts.unreadableAnswers)
        counter(
            "templates_unfilled", "Answers whose template a value did not fit into, so that cannot-connect was sent.",
            counts.unfilledTemplates)
        counter("calls_denied_number", "Calls refused because their number may not be dialled.", counts.deniedNumbers)
        counter("calls_over_user_limit", "Calls refused because of --max-calls-per-user.", counts.overUserLimit)
        counter("calls_over_limit", "Calls refused because of --max-calls.", counts.overCallLimit)
        counter("event_replies", "Events answered by an NCCO of a flow.", counts.flowReplies)
        counter("event_replies_early", "Of these, sent before the event was durable because the disk took too long.", counts.earlyReplies)
        counter("events", "Events kept and answered with 200.", counts.events)
        counter("events_malformed", "Events answered with 400.", counts.malformedEvents)
        counter("events_refused", "Events answered with 503 because they could not be kept.", counts.refusedEvents)
        counter("webhooks_verified", "Webhooks whose signature was checked and right.", counts.verifiedWebhooks)
        counter("webhooks_unsigned", "Webhooks taken without a signature though a secret is set.", counts.unsignedWebhooks)
        text +=
            "# HELP switchboard_webhooks_refused_total Webhooks refused, by reason.\n# TYPE switchboard_webhooks_refused_total counter\n"
        for (reason, count) in webhooks?.counts ?? [] {
            text += "switchboard_webhooks_refused_total{reason=\"\(reason)\"} \(count)\n"
        }
        counter("log_records", "Lines written to the event log.", status.counters.records)
        counter("log_syncs", "fdatasync calls of the event log.", status.counters.syncs)
        counter("log_write_failures", "Failed writes and syncs of the event log.", status.counters.writeFailures)
        counter("log_records_dropped", "Records of answers that the log had to drop.", status.counters.dropped)
        counter("log_repeats", "Events that came before.", status.counters.repeats)
        counter("log_torn_bytes", "Bytes cut off as torn at the start.", status.counters.tornBytes)
        counter("log_rotations", "Log files closed for their size or at the end of a day.", status.counters.rotations)
        counter("log_files_compressed", "Closed log files compressed.", status.counters.compressed)
        counter("log_compressed_bytes_before", "Bytes of these before.", Int(status.counters.compressedBytesBefore))
        counter("log_compressed_bytes_after", "Bytes of these after.", Int(status.counters.compressedBytesAfter))
        counter("log_files_deleted_for_age", "Closed log files deleted because of --keep.", status.counters.deletedForAge)
        counter("log_files_deleted_for_size", "Closed log files deleted because of --keep-size.", status.counters.deletedForSize)
        gauge("log_queued_bytes", "Bytes that wait for the disk.", status.queuedBytes)
        return Response(.ok, contentType: .metrics, body: Array(text.utf8))
    }
}
