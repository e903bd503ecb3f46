// SPDX-License-Identifier: MIT
//
// The folder of flows while it changes. Nobody waits half a second here: `look` is what the timer calls.

import Dispatch
import Foundation
import Locking
import NCCO
import Testing

@testable import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder of flows, and the store that watches it.
private final class StoreBench {
    let path: String
    private let root: String
    private let lines = Locked<[String]>([])
    private(set) var store: FlowStore!

    /// - Parameter files: nil for a folder that is not there.
    init(_ files: [String: String]?) throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("flows-\(UUID().uuidString)").path
        path = root + "/nccos"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        if let files { try write(files) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func open(isNamed: Bool = false) throws {
        store = try FlowStore(
            folder: path, isNamed: isNamed, settings: FlowSettings(numbers: [], inboundUser: "Alice"), baseURL: "https://calls.example.com"
        ) { [lines] line in lines.withLock { $0.append(line) } }
    }

    /// As an editor does that saves well: the file is another one from one moment to the next.
    func write(_ files: [String: String]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: .atomic) }
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    /// What was reported since the last call.
    func reported() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// What a caller hears.
    func heard(_ flow: String = "answer") throws -> String? {
        try FlowBench(store.current.set).ask(flow, query: "to=1")?.ncco
    }

    var names: [String] { store.current.set.flows.map(\.name) }
}

struct FlowStoreTests {
    private static let flows = #"{"flows": {"answer": [{"ncco": "hello"}]}}"#
    private static func talk(_ text: String) -> String { "[{\"action\":\"talk\",\"text\":\"\(text)\"}]" }
    private static let files = ["flows.json": flows, "hello.json": talk("Hello.")]
    private static let builtIn = talk("This call cannot be connected. Emergency and short numbers cannot be called from here. Goodbye.")

    // MARK: Start

    @Test func `a folder is served from the start`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        #expect(try bench.heard() == Self.talk("Hello."))
        #expect(bench.names == ["answer", "fallback"])
        #expect(bench.store.problem == nil)
        #expect(bench.store.summary == "\(bench.path): answer, fallback")
        #expect(bench.reported() == [])
    }

    @Test(arguments: [nil, [:], ["readme.txt": "x", ".hidden.json": "{"]])
    func `where there is no flow in the default folder the built-in one serves`(_ files: [String: String]?) throws {
        let bench = try StoreBench(files)
        try bench.open()
        #expect(try bench.heard() == Self.builtIn)
        #expect(bench.store.problem == nil)
        #expect(bench.store.summary == "none: the built-in flow is served")
        bench.store.look(isForced: true)
        #expect(bench.store.problem == nil && bench.reported() == [])
    }

    @Test func `a folder that somebody named must be there and hold flows`() throws {
        let missing = try StoreBench(nil)
        let error = #expect(throws: FlowFolderError.self) { try missing.open(isNamed: true) }
        #expect(error?.lines == ["\(missing.path): there is no such folder; name one that there is, or none for the built-in flow"])
        let empty = try StoreBench([:])
        let lines = #expect(throws: FlowFolderError.self) { try empty.open(isNamed: true) }?.lines
        #expect(lines?.first?.hasPrefix("\(empty.path)/flows.json:1:1: error FLOW013 $: there is no flows.json") == true)
    }

    @Test(arguments: [false, true]) func `a broken folder stops the start with lint's lines`(isNamed: Bool) throws {
        var files = Self.files
        files["hello.json"] = "[{\"action\": \"talk\"},\n {\"action\": \"tlak\"}]"
        let bench = try StoreBench(files)
        let lines = #expect(throws: FlowFolderError.self) { try bench.open(isNamed: isNamed) }?.lines ?? []
        #expect(
            lines.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
                "\(bench.path)/hello.json:1:2: error NCCO008", "\(bench.path)/hello.json:2:13: error NCCO007",
            ])
    }

    @Test func `what is no folder is said, and not taken for a missing one`() throws {
        let bench = try StoreBench(nil)
        try Data().write(to: URL(fileURLWithPath: bench.path))
        let error = #expect(throws: FlowFolderError.self) { try bench.open() }
        #expect(error?.lines == ["\(bench.path): cannot be read: Not a directory"])
    }

    // MARK: Change

    @Test func `each sort of change is seen, and what is the same is not read again`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        var version = bench.store.currentVersion
        func look() -> Bool {
            bench.store.look(isForced: false)
            defer { version = bench.store.currentVersion }
            return bench.store.currentVersion != version
        }
        #expect(!look())
        try bench.write(["hello.json": Self.talk("Howdy")])
        #expect(look())
        #expect(try bench.heard() == Self.talk("Howdy"))
        try bench.write(["hello.json": Self.talk("Good morning.")])
        #expect(look())
        #expect(try bench.heard() == Self.talk("Good morning."))
        try bench.write([
            "flows.json": #"{"flows": {"answer": [{"ncco": "hi"}], "menu": [{"ncco": "hello"}]}}"#, "hi.json": Self.talk("Hi."),
        ])
        #expect(look())
        #expect(try bench.heard() == Self.talk("Hi."))
        #expect(try bench.heard("menu") == Self.talk("Good morning."))
        #expect(bench.names == ["answer", "fallback", "menu"])
        try bench.write(["flows.json": #"{"flows": {"answer": [{"ncco": "hi"}]}}"#])
        try bench.remove("hello.json")
        #expect(look())
        #expect(bench.names == ["answer", "fallback"])
        // A file's own name may change as well.
        try FileManager.default.moveItem(atPath: "\(bench.path)/hi.json", toPath: "\(bench.path)/hello.json")
        try bench.write(["flows.json": Self.flows])
        #expect(look())
        #expect(try bench.heard() == Self.talk("Hi."))
        try bench.write(["notes.txt": "x", ".hello.json.swp": "x", ".#flows.json": "x"])
        #expect(!look())
        #expect(bench.reported() == Array(repeating: "nccos: read anew", count: 5))
        bench.store.look(isForced: true)
        #expect(bench.store.currentVersion != version)
        #expect(bench.store.problem == nil)
    }

    @Test func `a worker keeps what it has until the version is another`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        let (served, version) = (bench.store.current, bench.store.currentVersion)
        try bench.write(["hello.json": Self.talk("Howdy")])
        bench.store.look(isForced: false)
        #expect(try FlowBench(served.set).ask()?.ncco == Self.talk("Hello."))
        #expect(bench.store.currentVersion > version)
        bench.store.setBaseURL("https://other.example.com")
        #expect(bench.store.currentVersion > version + 1)
        #expect(String(decoding: bench.store.current.baseURL, as: UTF8.self) == "https://other.example.com")
        #expect(try bench.heard() == Self.talk("Howdy"))
        // A reload keeps the address.
        bench.store.look(isForced: true)
        #expect(String(decoding: bench.store.current.baseURL, as: UTF8.self) == "https://other.example.com")
    }

    // MARK: Faults

    private static let faults: [(name: String, text: String?, words: String)] = [
        ("hello.json", "[{\"action\": \"talk\", \"text\": \"Hello", "hello.json:1:35: error NCCO001 "),
        ("hello.json", "", "hello.json:1:1: error NCCO001 "), ("flows.json", "{\"flows\": ", "flows.json:1:11: error FLOW001 "),
        ("flows.json", nil, "flows.json:1:1: error FLOW013 "), ("hello.json", nil, "flows.json:1:32: error FLOW006 "),
        ("other.json", "[1]", "other.json:1:2: error NCCO005 "),
        ("other.json", String(repeating: " ", count: FlowFolder.largestFile + 1), "other.json: cannot be read: it has more than 1024 KiB"),
    ]

    @Test(arguments: faults.indices) func `a fault keeps the last good flows, and is said until it is mended`(_ index: Int) throws {
        let (name, text, words) = Self.faults[index]
        let bench = try StoreBench(Self.files)
        try bench.open()
        let version = bench.store.currentVersion
        if let text { try bench.write([name: text]) } else { try bench.remove(name) }
        bench.store.look(isForced: false)
        #expect(try bench.heard() == Self.talk("Hello."))
        #expect(bench.store.currentVersion == version)
        #expect(bench.store.problem?.hasPrefix("\(bench.path)/\(words)") == true, "\(bench.store.problem ?? "")")
        let lines = bench.reported()
        #expect(lines.first == "nccos: \(bench.store.problem ?? "")")
        #expect(lines.last == "nccos: the flows from before go on being served")
        // It is said once.
        bench.store.look(isForced: false)
        #expect(bench.reported() == [] && bench.store.problem != nil)
        if name == "other.json" { try bench.remove(name) } else { try bench.write([name: Self.files[name] ?? ""]) }
        bench.store.look(isForced: false)
        #expect(bench.store.problem == nil)
        #expect(bench.reported() == ["nccos: read anew, all is well again"])
        #expect(bench.store.currentVersion == version + 1)
    }

    @Test func `a folder that is all faults is not told in full`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        try bench.write(["hello.json": "[" + String(repeating: "1,", count: 500) + "1]"])
        bench.store.look(isForced: false)
        let lines = bench.reported()
        #expect(lines.count == 22)
        #expect(lines[20] == "nccos: 481 more; see switchboard lint \(bench.path)")
    }

    @Test func `warnings keep nothing out, and are counted`() throws {
        var files = Self.files
        files["unused.json"] = Self.talk("x")
        let bench = try StoreBench(files)
        try bench.open()
        #expect(bench.store.summary == "\(bench.path): answer, fallback; 1 warnings, see switchboard lint \(bench.path)")
        try bench.write(["unused2.json": Self.talk("x")])
        bench.store.look(isForced: false)
        #expect(bench.reported() == ["nccos: read anew; 2 warnings"])
    }

    @Test func `a named pipe, a folder and a file that points nowhere hold nobody up`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        try FileManager.default.createDirectory(atPath: "\(bench.path)/scenarios.json", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(bench.path)/nowhere.json", withDestinationPath: "/nowhere")
        try bench.write(["hello.json": Self.talk("Howdy")])
        bench.store.look(isForced: false)
        #expect(try bench.heard() == Self.talk("Howdy"))
        #expect(bench.store.problem == nil)
        #expect(mkfifo("\(bench.path)/pipe.json", 0o600) == 0)
        bench.store.look(isForced: false)
        #expect(bench.store.problem == "\(bench.path)/pipe.json: cannot be read: it is not a file")
    }

    @Test func `too many files are no flows`() throws {
        let bench = try StoreBench(Self.files)
        for number in 0..<1000 { #expect(symlink("\(bench.path)/hello.json", "\(bench.path)/\(number).json") == 0) }
        #expect(throws: FlowFolderError.self) { try bench.open() }
    }

    // MARK: Folders that come and go

    @Test func `a default folder that appears later is served`() throws {
        let bench = try StoreBench(nil)
        try bench.open()
        bench.store.look(isForced: false)
        // It comes into being empty.
        try bench.write([:])
        bench.store.look(isForced: false)
        #expect(bench.store.problem == nil && bench.reported() == [])
        #expect(try bench.heard() == Self.builtIn)
        try bench.write(["hello.json": Self.talk("Hello.")])
        bench.store.look(isForced: false)
        #expect(bench.store.problem?.contains("FLOW013") == true)
        #expect(try bench.heard() == Self.builtIn)
        try bench.write(Self.files)
        bench.store.look(isForced: false)
        #expect(try bench.heard() == Self.talk("Hello."))
        #expect(bench.store.problem == nil)
        #expect(bench.store.summary == "\(bench.path): answer, fallback")
    }

    @Test(arguments: [false, true]) func `a folder that goes leaves its flows`(isNamed: Bool) throws {
        let bench = try StoreBench(Self.files)
        try bench.open(isNamed: isNamed)
        try FileManager.default.moveItem(atPath: bench.path, toPath: bench.path + ".old")
        bench.store.look(isForced: false)
        #expect(bench.store.problem == "\(bench.path): there is no such folder; name one that there is, or none for the built-in flow")
        #expect(try bench.heard() == Self.talk("Hello."))
        bench.store.look(isForced: false)
        #expect(bench.reported().count == 2)
        try bench.write([:])
        bench.store.look(isForced: false)
        #expect(bench.store.problem?.contains("FLOW013") == true)
        try bench.remove("")
        try FileManager.default.moveItem(atPath: bench.path + ".old", toPath: bench.path)
        bench.store.look(isForced: false)
        #expect(bench.store.problem == nil)
    }

    // MARK: Settling

    /// A folder that is a link, which points to another generation of files from one moment to the next, as mounted folders do.
    @Test func `files that are being exchanged are not mixed`() throws {
        let bench = try StoreBench(nil)
        let path = bench.path
        func generation(_ number: Int) throws {
            let folder = "\(path)-\(number)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["flows", "a", "b", "c", "d"] {
                try Data("\(number)".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).json"))
            }
        }
        @Sendable func point(to number: Int) {
            #expect(symlink("\(path)-\(number)", path + ".new") == 0)
            #expect(rename(path + ".new", path) == 0)
        }
        let count = 40
        for number in 0..<count { try generation(number) }
        point(to: 0)
        let done = Locked(false)
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            for number in 1..<count { point(to: number) }
            done.withLock { $0 = true }
            ended.signal()
        }
        let folder = FlowFolder(path: path)
        var whole = 0
        while true {
            let isLast = done.withLock { $0 }
            if case .files(let files) = folder.read().content {
                whole += 1
                #expect(Set([files.flows ?? []] + files.templates.map(\.bytes)).count == 1)
                #expect(files.templates.map(\.name) == ["a", "b", "c", "d"])
            }
            if isLast { break }
        }
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(whole > 0)
    }

    @Test func `a folder in motion is neither served nor a fault, and is read once it has settled`() throws {
        let bench = try StoreBench(Self.files)
        try bench.open()
        let version = bench.store.currentVersion
        // It is not the same twice while somebody writes to it without end.
        let stops = Locked(false)
        let ended = DispatchSemaphore(value: 0)
        let path = bench.path
        DispatchQueue.global().async {
            var number = 0
            while !stops.withLock({ $0 }) {
                number += 1
                try? Data("[{\"action\":\"talk\",\"text\":\"\(number)\"}]".utf8).write(to: URL(fileURLWithPath: "\(path)/hello.json"))
            }
            ended.signal()
        }
        // A file cut short while it is written is a fault or unsettled, and never served.
        for _ in 0..<200 {
            bench.store.look(isForced: false)
            let heard = try bench.heard() ?? ""
            #expect(heard.hasPrefix("[{\"action\":\"talk\",\"text\":\"") && heard.hasSuffix("\"}]"))
        }
        stops.withLock { $0 = true }
        #expect(ended.wait(timeout: .now() + 60) == .success)
        try bench.write(["hello.json": Self.talk("Settled.")])
        bench.store.look(isForced: false)
        #expect(try bench.heard() == Self.talk("Settled."))
        #expect(bench.store.problem == nil && bench.store.currentVersion > version)
    }
}
