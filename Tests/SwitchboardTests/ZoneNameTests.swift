// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct ZoneNameTests {
    @Test(arguments: ["UTC", "GMT", "Etc/UTC"]) func `UTC needs no file`(_ name: String) throws {
        #expect(try Zone.named(name, folders: []) == .utc)
        #expect(Zone.utc.secondsFromGMT(at: .max) == 0)
    }

    @Test(arguments: [
        "", "/", "/etc/passwd", "..", "../../etc/passwd", "Europe/../Europe/London", "Europe//London", "Europe/London/", "Europe/Lon don",
        "tzdata.zi",
        "Europe\\London", "Zürich", "UTC\0", "UTC\n", String(repeating: "a", count: 65),
    ])
    func `a name that is none is not looked for`(_ name: String) {
        #expect(throws: ZoneError.badName(name)) { try Zone.named(name, folders: [ZoneFile.folder("slim")]) }
    }

    @Test func `a zone that is not there says what to do`() {
        let name = String(repeating: "a", count: 64)
        #expect(throws: ZoneError.notFound(name, folders: ["/nowhere"])) { try Zone.named(name, folders: ["/nowhere"]) }
        let folder = ZoneFile.folder("slim")
        let error = #expect(throws: ZoneError.self) { try Zone.named("Europe/Atlantis", folders: [folder, "/nowhere"]) }
        #expect(
            error?.description == "the time zone \"Europe/Atlantis\" is not in \(folder), /nowhere: "
                + "write an IANA name such as Europe/London, or install the package tzdata")
        #expect(throws: ZoneError.notFound("Europe/London/City", folders: [folder])) {
            try Zone.named("Europe/London/City", folders: [folder])
        }
        #expect(ZoneError.badName("../x").description == "\"../x\" is no name of a time zone: write an IANA name such as Europe/London")
    }

    @Test func `the folders are looked through in order`() throws {
        let (slim, fat) = (ZoneFile.folder("slim"), ZoneFile.folder("fat"))
        #expect(try Zone.named("Asia/Kolkata", folders: ["/nowhere", fat, slim]).secondsFromGMT(at: 0) == 19_800)
    }

    @Test func `what is no zone file is refused by its path`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: "\(folder)/Europe", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("no zone".utf8).write(to: URL(fileURLWithPath: "\(folder)/leapseconds"))
        try Data(count: 256 * 1024 + 1).write(to: URL(fileURLWithPath: "\(folder)/large"))
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        for (name, reason) in [
            ("Europe", "it is a folder of time zones"), ("leapseconds", "it does not begin with TZif (byte 0)"),
            ("large", "the file is larger than 256 KiB"), ("pipe", "it is not a file"),
        ] {
            #expect(throws: ZoneError.notAZone(file: "\(folder)/\(name)", reason: reason)) { try Zone.named(name, folders: [folder]) }
        }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/loop", withDestinationPath: "loop")
        #expect(throws: ZoneError.unreadable(file: "\(folder)/loop", code: ELOOP)) { try Zone.named("loop", folders: [folder]) }
    }

    static let hasSystemZones = Zone.systemFolders.contains { FileManager.default.fileExists(atPath: "\($0)/Europe/London") }

    /// Whatever version is installed: the years since 2000 are well known, while of older ones the database still learns.
    @Test(.enabled(if: hasSystemZones), arguments: try OffsetVector.all("zone-offsets"))
    func `the system's own zones agree from 2000 to 2020`(_ vector: OffsetVector) throws {
        #expect(try vector.fault(in: .named(#require(vector.zone)), since: 946_684_800, before: 1_577_836_800) == nil)
    }

    @Test(.enabled(if: hasSystemZones)) func `every zone of the system is read`() throws {
        let folder = try #require(Zone.systemFolders.first { FileManager.default.fileExists(atPath: "\($0)/Europe/London") })
        var count = 0
        for case let name as String in try #require(FileManager.default.enumerator(atPath: folder)) {
            guard ["Africa/", "America/", "Asia/", "Australia/", "Etc/", "Europe/", "Pacific/"].contains(where: name.hasPrefix) else {
                continue
            }
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder), !isFolder.boolValue else { continue }
            #expect(throws: Never.self, "\(name)") { try Zone.named(name, folders: [folder]) }
            count += 1
        }
        #expect(count > 100)
    }
}
