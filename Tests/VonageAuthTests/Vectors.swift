// SPDX-License-Identifier: MIT

import Foundation
import Testing
import VonageAuth

/// The bytes of a file under `Vectors`.
func vector(_ path: String) throws -> [UInt8] {
    try Array(Data(contentsOf: try #require(Bundle.module.url(forResource: "Vectors/\(path)", withExtension: nil))))
}

/// The text of `throw-away-NAME.pem`.
func keyText(_ name: String) throws -> String { String(decoding: try vector("keys/throw-away-\(name).pem"), as: UTF8.self) }

func privateKey(_ name: String = "pkcs8") throws -> PrivateKey { try PrivateKey(try keyText(name)) }

func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

/// The base64 between the first and the last line of PEM.
func body(_ pem: String) -> String { pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined() }
