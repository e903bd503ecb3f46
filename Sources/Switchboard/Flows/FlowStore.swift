// SPDX-License-Identifier: MIT
//
// The flows that are being served. Workers keep what they were given and ask one number whether there is something newer: an answer waits for
// no lock and for no reading of files, which a queue of its own does twice a second.
//
// A folder with an error never replaces the last good one. What is wrong is said once, and by health for as long as it lasts.

import Dispatch
import Locking
import NCCO
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a worker serves from; never changed.
package final class ServedFlows: Sendable {
    let set: FlowSet
    /// For `{{base_url}}`, without a slash at its end.
    let baseURL: [UInt8]

    init(_ set: FlowSet, baseURL: String) {
        self.set = set
        self.baseURL = Array(baseURL.utf8)
    }
}

/// Why the start cannot go on; lint's lines.
package struct FlowFolderError: Error, CustomStringConvertible {
    package let lines: [String]
    package var description: String { lines.joined(separator: "\n") }
}

package final class FlowStore: Sendable {
    private struct State {
        var served: ServedFlows
        /// A worker may drop the last reference to a large set in the middle of an answer; here it is dropped on the queue.
        var previous: ServedFlows?
        var signature: FilesSignature?
        var problem: String?
        var isBuiltIn = true
        /// What is served, as it was read.
        var files = FlowFiles.builtIn
        /// Of what was read last, which is not served where it has errors.
        var findings: [FileFinding] = []

        var warnings: Int { findings.count { $0.finding.severity == .warning } }
    }

    /// All that there is to be shown of the flows.
    struct Shown: Sendable {
        /// The folder; nil for the built-in flow.
        let folder: String?
        let problem: String?
        let findings: [FileFinding]
        let files: FlowFiles
        let set: FlowSet
    }

    private let settings: FlowSettings
    private let folder: FlowFolder
    /// Whether the folder was named, so that it must be there.
    private let isNamed: Bool
    private let state: Locked<State>
    private let version = Atomic<UInt64>(1)
    private let queue = DispatchQueue(label: "flows", qos: .utility)
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    /// Called on the queue for each line that somebody should read.
    private let report: @Sendable (String) -> Void

    /// Reads the folder, or serves the default flow where there is none.
    ///
    /// - Parameter isNamed: somebody wants this folder, so it is an error if it is not there.
    /// - Throws: `FlowFolderError` with what is wrong in the folder.
    package init(
        folder path: String, isNamed: Bool, settings: FlowSettings, baseURL: String, report: @escaping @Sendable (String) -> Void
    ) throws(FlowFolderError) {
        guard let standard = FlowCompiler.compile(.builtIn, settings).flows else {
            throw FlowFolderError(lines: ["the default flow has an error"])
        }
        self.settings = settings
        self.report = report
        folder = FlowFolder(path: path)
        self.isNamed = isNamed
        state = Locked(State(served: ServedFlows(standard, baseURL: baseURL)))
        // At a start nobody waits for a call yet: a folder that is just being written gets some tries.
        for attempt in 0..<5 {
            let (content, signature) = folder.read()
            if case .unsettled = content, attempt < 4 {
                usleep(UInt32(Self.settleTime / 2 * 1000))
                continue
            }
            let read = evaluate(content)
            if let lines = read.lines { throw FlowFolderError(lines: lines) }
            state.withLock { state in
                state.signature = signature
                state.findings = read.findings
                guard let set = read.set, let files = read.files else { return }
                state.served = ServedFlows(set, baseURL: baseURL)
                state.files = files
                state.isBuiltIn = false
            }
            return
        }
    }

    // MARK: For workers

    /// Changes with each set.
    var currentVersion: UInt64 { version.load(ordering: .acquiring) }

    var current: ServedFlows { state.withLock { $0.served } }

    // MARK: For people

    /// Why the folder is not the one that is served; nil where it is.
    package var problem: String? { state.withLock { $0.problem } }

    /// For the banner.
    package var summary: String {
        state.withLock { state in
            if state.isBuiltIn { return "none: the built-in flow is served" }
            let flows = state.served.set.flows.map(\.name).joined(separator: ", ")
            let hint = state.warnings == 0 ? "" : "; \(state.warnings) warnings, see switchboard lint \(folder.path)"
            return "\(folder.path): \(flows)\(hint)"
        }
    }

    var shown: Shown {
        state.withLock { state in
            Shown(
                folder: state.isBuiltIn ? nil : folder.path, problem: state.problem, findings: state.findings, files: state.files,
                set: state.served.set)
        }
    }

    /// The port is known only once it listens.
    package func setBaseURL(_ url: String) {
        state.withLock { state in
            state.previous = state.served
            state.served = ServedFlows(state.served.set, baseURL: url)
        }
        version.add(1, ordering: .releasing)
    }

    // MARK: Watching

    /// Looks twice a second from now on.
    package func watch() {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(500), leeway: .milliseconds(50))
        source.setEventHandler { [weak self] in self?.lookOnceSettled() }
        source.activate()
        timer.withLock { $0 = source }
    }

    /// What changed a moment ago may be half saved, and a second change within one tick of the file system's clock could not be told from it.
    private func lookOnceSettled() {
        let signature = folder.signature()
        guard signature != state.withLock({ $0.signature }) else { return }
        guard signature.changedWithin(milliseconds: Self.settleTime) else { return look(isForced: false) }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.settleTime)) { [weak self] in self?.look(isForced: false) }
    }

    /// Milliseconds.
    private static let settleTime = 100

    /// Reads the folder now, whether it seems to have changed or not.
    package func reload() { queue.async { self.look(isForced: true) } }

    /// Reads the folder if it has changed; for tests, and on the queue.
    func look(isForced: Bool) {
        let last = state.withLock { $0.signature }
        if !isForced, folder.signature() == last { return }
        let (content, signature) = folder.read()
        if case .unsettled = content { return }
        let read = evaluate(content)
        // What is dropped is dropped behind the lock: a large set takes its time.
        let (before, dropped) = state.withLock { state in
            let (before, dropped) = (state.problem, state.previous)
            state.signature = signature
            state.problem = read.lines?.first
            state.findings = read.findings
            guard let set = read.set, let files = read.files, read.lines == nil else { return (before, dropped) }
            state.previous = state.served
            state.served = ServedFlows(set, baseURL: String(decoding: state.served.baseURL, as: UTF8.self))
            state.files = files
            state.isBuiltIn = false
            return (before, dropped)
        }
        withExtendedLifetime(dropped) {}
        if let lines = read.lines {
            for line in lines.prefix(20) { report("nccos: \(line)") }
            if lines.count > 20 { report("nccos: \(lines.count - 20) more; see switchboard lint \(folder.path)") }
            report("nccos: the flows from before go on being served")
        } else if read.set != nil {
            version.add(1, ordering: .releasing)
            let warnings = read.findings.count { $0.finding.severity == .warning }
            report("nccos: read anew\(before == nil ? "" : ", all is well again")\(warnings == 0 ? "" : "; \(warnings) warnings")")
        }
    }

    /// Nobody has asked for the folder, and it has never served.
    private var mayBeMissing: Bool { !isNamed && state.withLock { $0.isBuiltIn } }

    private struct Evaluation {
        var set: FlowSet?
        var files: FlowFiles?
        var findings: [FileFinding] = []
        var lines: [String]?
    }

    /// - Returns: a set with its files, or the lines that say what is wrong; neither where the default flow serves.
    private func evaluate(_ content: FlowFolder.Content) -> Evaluation {
        switch content {
        case .files(let files):
            if files.flows == nil, files.templates.isEmpty, mayBeMissing { return Evaluation() }
            let compilation = FlowCompiler.compile(files, settings, prefix: folder.path + "/")
            guard let set = compilation.flows else {
                let errors = compilation.findings.filter { $0.finding.severity == .error }
                return Evaluation(findings: compilation.findings, lines: errors.map(\.description))
            }
            return Evaluation(set: set, files: files, findings: compilation.findings)
        case .missing:
            if mayBeMissing { return Evaluation() }
            return Evaluation(lines: ["\(folder.path): there is no such folder; name one that there is, or none for the built-in flow"])
        case .unreadable(let name, let reason):
            return Evaluation(lines: ["\(folder.path)\(name.isEmpty ? "" : "/" + name): cannot be read: \(reason)"])
        case .unsettled: return Evaluation(lines: ["\(folder.path): it changes all the time"])
        }
    }
}
