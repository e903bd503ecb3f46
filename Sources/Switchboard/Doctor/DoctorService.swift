// SPDX-License-Identifier: MIT
//
// What listens while nobody else does: it proves to `doctor` that the public address leads here, and tells anybody else that the server is not
// running.

package import HTTPServer
import HTTPWire

package struct DoctorService: Service {
    let proof: HealthProof

    package init(_ proof: HealthProof) { self.proof = proof }

    package func makeHandler(mailbox: Mailbox) -> any Handler { DoctorHandler(proof) }
}

private final class DoctorHandler: Handler {
    private let proof: HealthProof

    init(_ proof: HealthProof) { self.proof = proof }

    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
        guard let proof = proof.proof(asked: head.query, in: bytes) else {
            return .now(.problem(.serviceUnavailable, "The server is not running; switchboard doctor is at work."))
        }
        return .now(Response(.ok, body: Array("{\"status\":\"ok\",\"proof\":\"\(proof)\"}\n".utf8)))
    }

    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
    func refused(_ error: WireError) {}
    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
        .problem(.internalServerError, "A fault.")
    }
    func flush(now: Int64) -> Int64? { nil }
}
