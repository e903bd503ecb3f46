// SPDX-License-Identifier: MIT
//
// The named vectors under Vectors/: arrays of objects, input beside expectation. Text stands for bytes one to one, as in Latin-1, so that
// any byte can be written in JSON without a second encoding.

import Foundation
import HTTPWire
import Testing

/// Bytes that a vector file writes as characters up to U+00FF.
struct Bytes: Decodable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let all: [UInt8]

    init(_ all: [UInt8]) { self.all = all }
    init(stringLiteral text: String) { all = Array(text.utf8) }
    init(from decoder: any Decoder) throws {
        all = try decoder.singleValueContainer().decode(String.self).unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "\(scalar) is no byte"))
            }
            return byte
        }
    }
    var description: String { String(String.UnicodeScalarView(all.map { Unicode.Scalar($0) })).debugDescription }
}

protocol Vector: Decodable, Sendable, CustomTestStringConvertible {
    var name: String { get }
}

extension Vector {
    var testDescription: String { name }

    static func all(_ file: String) throws -> [Self] {
        let url = try #require(Bundle.module.url(forResource: "Vectors/\(file)", withExtension: "json"))
        return try JSONDecoder().decode([Self].self, from: Data(contentsOf: url))
    }
}

extension WireError.Fault: Decodable {}

struct Accepted: Vector {
    let name: String
    let input: Bytes
    let method, form, framing: String
    let target, path, authority: Bytes
    let query: Bytes?
    let minorVersion: Int
    let keepAlive, expectsContinue: Bool
    let fields: [[Bytes]]
    let body: Bytes

    var request: Peer.Request {
        Peer.Request(
            method: method, form: form, framing: framing, target: target, path: path, query: query, authority: authority,
            minorVersion: minorVersion, keepAlive: keepAlive, expectsContinue: expectsContinue, fields: fields, body: body)
    }
}

struct Refused: Vector {
    let name: String
    let input: Bytes
    let fault: WireError.Fault
    let status: UInt16
    let offset: Int?
}

struct ChunkedAccepted: Vector {
    let name: String
    let chunks, body: Bytes
}

struct ChunkedRefused: Vector {
    let name: String
    let chunks: Bytes
    let fault: WireError.Fault
    let status: UInt16
    let offset: Int?
}

struct ConnectionVariant: Vector {
    let name: String
    let minorVersion: Int
    let values: [Bytes]
    let keepAlive: Bool
}

struct HostForm: Vector {
    let name: String
    let host: Bytes
    let valid: Bool
}

struct Expectation: Vector {
    let name: String
    let input: Bytes
    let steps: [String]
}

struct ParameterList: Vector {
    let name: String
    let text: Bytes
    let pairs: [[Bytes]]
}

struct PathForm: Vector {
    let name: String
    let path: Bytes
    let decoded: Bytes?
}
