// SPDX-License-Identifier: MIT
//
// Every vector through the connection machine, cut in every way.

import HTTPWire
import Testing

private let chunkedHead = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)

@Test(arguments: try Accepted.all("accepted"))
func `accepted however it is cut`(_ vector: Accepted) {
    let outcome = converseInEveryWay(vector.input.all)
    #expect(outcome.requests == [vector.request])
    #expect(outcome.ending == (vector.keepAlive ? .waiting : .closed(.close)))
}

@Test(arguments: try Refused.all("refused"))
func `refused however it is cut, and nothing behind it is read`(_ vector: Refused) throws {
    let outcome = converseInEveryWay(vector.input.all)
    #expect(outcome.requests == [])
    guard case .refused(let error) = outcome.ending else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.fault == vector.fault)
    #expect(error.status.rawValue == vector.status)
    if let offset = vector.offset { #expect(error.offset == offset) }
}

@Test(arguments: try ChunkedAccepted.all("chunked-accepted"))
func `chunked body accepted however it is cut`(_ vector: ChunkedAccepted) throws {
    let outcome = converseInEveryWay(chunkedHead + vector.chunks.all)
    let request = try #require(outcome.requests.first)
    #expect(outcome.ending == .waiting)
    #expect(request.body == vector.body)
    #expect(request.fields == [["Host", "a"], ["Transfer-Encoding", "chunked"]])
    #expect(request.authority == "a")
    #expect(request.keepAlive)
}

@Test(arguments: try ChunkedRefused.all("chunked-refused"))
func `chunked body refused however it is cut`(_ vector: ChunkedRefused) throws {
    let outcome = converseInEveryWay(chunkedHead + vector.chunks.all)
    #expect(outcome.requests == [])
    guard case .refused(let error) = outcome.ending else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.fault == vector.fault)
    #expect(error.status.rawValue == vector.status)
    if let offset = vector.offset { #expect(error.offset == chunkedHead.count + offset) }
}

@Test(arguments: try ConnectionVariant.all("connection"))
func `the Connection field decides whether the connection stays`(_ vector: ConnectionVariant) throws {
    var input = Array("GET / HTTP/1.\(vector.minorVersion)\r\nHost: a\r\n".utf8)
    for value in vector.values { input += Array("Connection: ".utf8) + value.all + Array("\r\n".utf8) }
    let outcome = converseInEveryWay(input + Array("\r\n".utf8))
    let request = try #require(outcome.requests.first)
    #expect(request.keepAlive == vector.keepAlive)
    #expect(outcome.ending == (vector.keepAlive ? .waiting : .closed(.close)))
}

@Test(arguments: try HostForm.all("host"))
func `Host is an authority or is refused`(_ vector: HostForm) {
    let outcome = converseInEveryWay(Array("GET / HTTP/1.1\r\nHost: ".utf8) + vector.host.all + Array("\r\n\r\n".utf8))
    if vector.valid {
        #expect(outcome.requests.map(\.authority) == [vector.host])
    } else {
        #expect(outcome.requests == [])
        guard case .refused(let error) = outcome.ending else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.fault == .badHost)
        #expect(error.status == .badRequest)
        #expect(error.offset == 22)
    }
}

@Test(arguments: try HostForm.all("host").filter { $0.valid && !$0.host.all.contains(UInt8(ascii: "/")) })
func `the authority of an absolute target has the same forms`(_ vector: HostForm) {
    let outcome = converse([Array("GET http://".utf8) + vector.host.all + Array("/x HTTP/1.1\r\nHost: a\r\n\r\n".utf8)])
    #expect(outcome.requests.map(\.authority) == [vector.host])
    #expect(outcome.requests.map(\.path) == ["/x"])
}

@Test(arguments: try Expectation.all("expect"))
func `an expectation is met at once or refused`(_ vector: Expectation) {
    var peer = Peer()
    peer.buffer = vector.input.all
    var steps: [String] = []
    while steps.count < 3 {
        switch peer.next() {
        case .read: steps.append("read")
        case .mayContinue: steps.append("continue")
        case .request: steps.append("request")
        case .refuse(let error): steps.append("refuse \(error.fault.rawValue)")
        case .stop: steps.append("stop")
        }
        if steps.last != "continue" { break }
    }
    #expect(steps == vector.steps)
}
