// SPDX-License-Identifier: MIT
//
// What this server needs to speak for a Vonage application: its id and its private key. They come from flags, the environment, or the files
// that Vonage's command line leaves in the working directory. What a flag names must be usable; elsewhere a fault is a warning, because calls
// can be answered without tokens, and whoever asks for one is told what is missing.

import NCCO
package import VonageAuth

package struct ApplicationCredentials: Sendable {
    /// Both halves of what a token needs.
    package struct Pair: Sendable {
        package let applicationID: ApplicationID
        package let key: PrivateKey

        package init(applicationID: ApplicationID, key: PrivateKey) {
            self.applicationID = applicationID
            self.key = key
        }
    }

    package let applicationID: ApplicationID?
    package let key: PrivateKey?
    /// Where the key is from: a flag, a variable or a file.
    package let keySource: String?
    /// What a person should know, one line each, without `warning:` in front.
    package let warnings: [String]

    /// Variables with a key: the first that is set wins. Those with 64 are for base64; each is taken in either form.
    package static let keyVariables = ["VONAGE_PRIVATE_KEY", "VONAGE_PRIVATE_KEY64", "PRIVATE_KEY", "PRIVATE_KEY64"]
    private static let documentName = "vonage_app.json"
    private static let keyName = "private.key"

    /// Reads what the settings, the environment and the working directory say.
    ///
    /// - Parameter folder: in which `vonage_app.json` and `private.key` are looked for.
    /// - Throws: `UsageError` in one line, where what `--private-key-file` names cannot be used.
    package init(_ settings: Settings, environment: [String: String], folder: String = ".") throws(UsageError) {
        var search = Search()
        if let path = settings.privateKeyFile {
            do throws(KeyFileError) { try search.take(try KeyFile(path, mayBePipe: true), source: "--private-key-file") } catch {
                throw UsageError("--private-key-file: \(shownPath(path)): \(error.reason)")
            }
        } else if let name = Self.keyVariables.first(where: { !(environment[$0] ?? "").isEmpty }) {
            // A key that was set wins also where it is nonsense: another one than was meant would be worse than none.
            do throws(KeyFileError) { try search.take(variable: name, environment[name] ?? "") } catch {
                search.warnings.append("\(name): \(error.reason)")
            }
        } else {
            for name in [Self.documentName, Self.keyName] where search.key == nil {
                do throws(KeyFileError) {
                    let file = try KeyFile("\(folder)/\(name)")
                    // Version 3 of the command line puts the key beside it.
                    if name == Self.documentName, let document = file.document, !document.hasPrivateKey { continue }
                    try search.take(file, source: name)
                } catch {
                    if !error.isMissing { search.warnings.append("\(name): \(error.reason)") }
                }
            }
        }
        key = search.key
        keySource = search.source

        if let id = settings.applicationID {
            applicationID = id
            if let other = search.applicationID, other != id {
                search.warnings.append(
                    "the key from \(search.source ?? "") belongs to the application \(other), and not to \(id): Vonage will refuse its tokens"
                )
            }
        } else if let id = search.applicationID {
            applicationID = id
        } else if let text = (try? KeyFile("\(folder)/\(Self.documentName)"))?.document?.applicationID {
            applicationID = ApplicationID(text)
            if applicationID == nil { search.warnings.append("\(Self.documentName): its application_id is no UUID") }
        } else {
            applicationID = nil
        }
        warnings = search.warnings
    }

    /// Credentials that come from nowhere, for whoever has them already.
    package init(applicationID: ApplicationID? = nil, key: PrivateKey? = nil, source: String? = nil) {
        (self.applicationID, self.key) = (applicationID, key)
        (keySource, warnings) = (source, [])
    }

    /// Nil where one of both is missing.
    package var pair: Pair? {
        guard let applicationID, let key else { return nil }
        return Pair(applicationID: applicationID, key: key)
    }

    /// What keeps tokens from being made and what to do about it, in one line of fixed words; nil where nothing does.
    package var missing: String? {
        let id = "set --application-id or VONAGE_APPLICATION_ID"
        let file = "set --private-key-file or VONAGE_PRIVATE_KEY"
        return switch (applicationID, key) {
        case (nil, nil): "no application id and no usable private key: \(id), and \(file)"
        case (nil, _): "no application id: \(id)"
        case (_, nil): "no usable private key: \(file)"
        default: nil
        }
    }

    /// Which application and where its key is from, or what is missing, for the lines of the start.
    var summary: String {
        let origin = "key from \(keySource ?? "the caller")"
        return switch (applicationID, missing) {
        case (let id?, nil): "\(id), \(origin)"
        case (let id?, let missing?): "\(id), but \(missing)"
        case (nil, let missing): "none, so tokens cannot be made: \(missing ?? "")"
        }
    }

    /// What has been found so far.
    private struct Search {
        var key: PrivateKey?
        var source: String?
        /// Of the JSON that the key lay in.
        var applicationID: ApplicationID?
        var warnings: [String] = []

        mutating func take(_ file: KeyFile, source: String) throws(KeyFileError) {
            key = try file.key()
            self.source = source
            if file.isOpenToAll { warnings.append("\(source): every user of this machine can read the file; chmod 600 it") }
            take(file.document, source)
        }

        mutating func take(variable name: String, _ value: String) throws(KeyFileError) {
            if mayBePath(value) {
                let file: KeyFile
                do throws(KeyFileError) { file = try KeyFile(value) } catch {
                    // The value is not shown: it may be a part of a key after all.
                    throw error.isMissing ? KeyFileError(reason: "it is neither a key nor the path of a file") : error
                }
                return try take(file, source: name)
            }
            let bytes = Array(value.utf8)
            do throws(KeyError) { key = try PrivateKey(bytes) } catch { throw KeyFileError(reason: error.description) }
            source = name
            if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") { take(try? ApplicationDocument(bytes), name) }
        }

        private mutating func take(_ document: ApplicationDocument?, _ source: String) {
            guard let text = document?.applicationID else { return }
            applicationID = ApplicationID(text)
            if applicationID == nil { warnings.append("the application id in \(source) is no UUID") }
        }
    }
}
