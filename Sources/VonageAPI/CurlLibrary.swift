// SPDX-License-Identifier: MIT
//
// libcurl, loaded with the first request: a server that asks nobody neither waits for it nor holds it. Everything unsafe about it is here, behind
// one function that performs one request on the calling thread.

import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// - `@unchecked Sendable`: addresses of functions that stay loaded for good and may be called from any thread (libcurl, "thread safety").
final class CurlLibrary: @unchecked Sendable {
    private let easyInit: UnsafeMutableRawPointer
    private let easyCleanup: UnsafeMutableRawPointer
    private let easyReset: UnsafeMutableRawPointer
    private let easySetopt: UnsafeMutableRawPointer
    private let easyGetinfo: UnsafeMutableRawPointer
    private let easyPerform: UnsafeMutableRawPointer
    private let easyStrerror: UnsafeMutableRawPointer
    private let slistAppend: UnsafeMutableRawPointer
    private let slistFreeAll: UnsafeMutableRawPointer

    /// Loaded once, by whoever asks first; nil where there is none. A constant of a type is made under a lock of Swift's.
    static let shared = CurlLibrary()

    #if os(Linux)
        private static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]
    #else
        private static let names = ["libcurl.4.dylib", "/usr/lib/libcurl.4.dylib"]
    #endif

    private init?() {
        guard let library = Self.names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        guard let globalInit = dlsym(library, "curl_global_init"), switchboard_curl_global_init(globalInit) == 0,
            let easyInit = dlsym(library, "curl_easy_init"), let easyCleanup = dlsym(library, "curl_easy_cleanup"),
            let easyReset = dlsym(library, "curl_easy_reset"), let easySetopt = dlsym(library, "curl_easy_setopt"),
            let easyGetinfo = dlsym(library, "curl_easy_getinfo"), let easyPerform = dlsym(library, "curl_easy_perform"),
            let easyStrerror = dlsym(library, "curl_easy_strerror"), let slistAppend = dlsym(library, "curl_slist_append"),
            let slistFreeAll = dlsym(library, "curl_slist_free_all")
        else { return nil }
        (self.easyInit, self.easyCleanup, self.easyReset) = (easyInit, easyCleanup, easyReset)
        (self.easySetopt, self.easyGetinfo, self.easyPerform) = (easySetopt, easyGetinfo, easyPerform)
        (self.easyStrerror, self.slistAppend, self.slistFreeAll) = (easyStrerror, slistAppend, slistFreeAll)
    }

    /// One handle with the connections it keeps open; used by one thread at a time.
    ///
    /// - `@unchecked Sendable`: whoever takes it out of the list of spare ones has it alone.
    final class Handle: @unchecked Sendable {
        fileprivate let pointer: UnsafeMutableRawPointer
        private let library: CurlLibrary

        fileprivate init(_ pointer: UnsafeMutableRawPointer, _ library: CurlLibrary) {
            self.pointer = pointer
            self.library = library
        }

        deinit { switchboard_curl_call(library.easyCleanup, pointer) }
    }

    func makeHandle() -> Handle? { switchboard_curl_init(easyInit).map { Handle($0, self) } }

    /// What comes, while it comes.
    private final class Receiver {
        let maximumAnswer: Int
        let isStopped: @Sendable () -> Bool
        var body: [UInt8] = []
        var fields: [String: String] = [:]
        var fieldBytes = 0
        var isTooLarge = false

        init(_ maximumAnswer: Int, _ isStopped: @escaping @Sendable () -> Bool) {
            self.maximumAnswer = maximumAnswer
            self.isStopped = isStopped
        }

        /// A field line of the answer; those of an interim answer are forgotten with its successor's status line.
        func take(line bytes: UnsafeRawBufferPointer) {
            let line = String(decoding: bytes, as: UTF8.self)
            if line.hasPrefix("HTTP/") { fields = [:] }
            guard let colon = line.firstIndex(of: ":") else { return }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields[line[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
        }
    }

    /// All fields of an answer together, in bytes.
    private static let largestHead = 256 * 1024

    /// Performs a request and waits for its end.
    ///
    /// - Parameter isStopped: asked now and then; true ends the request.
    func perform(_ request: WebRequest, on handle: Handle, isStopped: @escaping @Sendable () -> Bool) -> Result<WebAnswer, WebError> {
        let curl = handle.pointer
        switchboard_curl_call(easyReset, curl)
        func set(_ option: switchboard_curl_option, _ value: Int) {
            _ = switchboard_curl_set_number(easySetopt, curl, Int32(option.rawValue), value)
        }
        func set(_ option: switchboard_curl_option, _ value: UnsafeRawPointer?) {
            _ = switchboard_curl_set_pointer(easySetopt, curl, Int32(option.rawValue), value)
        }
        let receiver = Receiver(request.maximumAnswer, isStopped)
        // The receiver outlives the call below, which is the only time that libcurl has its address.
        let context = Unmanaged.passUnretained(receiver).toOpaque()
        // HTTP and HTTPS only, which also holds for proxies' answers; no redirect is followed unless it is asked for.
        set(SWITCHBOARD_CURLOPT_PROTOCOLS, 3)
        set(SWITCHBOARD_CURLOPT_NOSIGNAL, 1)
        set(SWITCHBOARD_CURLOPT_NOPROGRESS, 0)
        set(SWITCHBOARD_CURLOPT_TIMEOUT_MS, max(request.milliseconds, 1))
        set(SWITCHBOARD_CURLOPT_WRITEDATA, context)
        set(SWITCHBOARD_CURLOPT_HEADERDATA, context)
        set(SWITCHBOARD_CURLOPT_XFERINFODATA, context)
        _ = switchboard_curl_set_write(easySetopt, curl, Int32(SWITCHBOARD_CURLOPT_WRITEFUNCTION.rawValue)) { bytes, _, count, context in
            guard let context, let bytes else { return 0 }
            let receiver = Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
            receiver.isTooLarge = receiver.body.count + Int(count) > receiver.maximumAnswer
            // Less than what came ends the request.
            guard !receiver.isTooLarge else { return 0 }
            receiver.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        _ = switchboard_curl_set_write(easySetopt, curl, Int32(SWITCHBOARD_CURLOPT_HEADERFUNCTION.rawValue)) { bytes, _, count, context in
            guard let context, let bytes else { return 0 }
            let receiver = Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
            receiver.fieldBytes += Int(count)
            receiver.isTooLarge = receiver.fieldBytes > CurlLibrary.largestHead
            guard !receiver.isTooLarge else { return 0 }
            receiver.take(line: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        _ = switchboard_curl_set_progress(easySetopt, curl, Int32(SWITCHBOARD_CURLOPT_XFERINFOFUNCTION.rawValue)) { context, _, _, _, _ in
            guard let context else { return 1 }
            return Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
        }

        var lines: UnsafeMutableRawPointer?
        // Without `Expect`, which libcurl would send by itself before a longer body and wait for.
        for line in request.fields.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
            if let longer = switchboard_curl_append(slistAppend, lines, line) { lines = longer }
        }
        defer { if let lines { switchboard_curl_call(slistFreeAll, lines) } }
        set(SWITCHBOARD_CURLOPT_HTTPHEADER, lines)
        var words = [CChar](repeating: 0, count: 256)  // CURL_ERROR_SIZE
        let code = words.withUnsafeMutableBufferPointer { words in
            set(SWITCHBOARD_CURLOPT_ERRORBUFFER, words.baseAddress.map { UnsafeRawPointer($0) })
            // libcurl copies these texts, but not the body.
            request.url.withCString { set(SWITCHBOARD_CURLOPT_URL, UnsafeRawPointer($0)) }
            // What is asked on this machine stays on it, whatever proxy the environment names.
            if isLoopback(request.url) { "*".withCString { set(SWITCHBOARD_CURLOPT_NOPROXY, UnsafeRawPointer($0)) } }
            if request.method == "HEAD" { set(SWITCHBOARD_CURLOPT_NOBODY, 1) }
            request.method.withCString { set(SWITCHBOARD_CURLOPT_CUSTOMREQUEST, UnsafeRawPointer($0)) }
            guard let body = request.body else { return switchboard_curl_perform(easyPerform, curl) }
            return body.withUnsafeBytes { body in
                set(SWITCHBOARD_CURLOPT_POSTFIELDSIZE, body.count)
                // For no bytes an address all the same: nil would mean that they are to be read from elsewhere.
                return withUnsafePointer(to: UInt8(0)) { none in
                    set(SWITCHBOARD_CURLOPT_POSTFIELDS, body.baseAddress ?? UnsafeRawPointer(none))
                    return switchboard_curl_perform(easyPerform, curl)
                }
            }
        }
        // What it points to is about to go; the handle is reset before its next use.
        set(SWITCHBOARD_CURLOPT_ERRORBUFFER, nil)
        guard code == 0 else {
            let text = String(decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return .failure(error(code, receiver, text, request))
        }
        var status = 0
        _ = switchboard_curl_get_number(easyGetinfo, curl, Int32(SWITCHBOARD_CURLINFO_RESPONSE_CODE.rawValue), &status)
        // An HTTP/0.9 answer would have none.
        guard status >= 100 else { return .failure(WebError(.broken, "what came is no HTTP answer")) }
        return .success(WebAnswer(status: status, fields: receiver.fields, body: receiver.body))
    }

    private func isLoopback(_ url: String) -> Bool {
        guard let start = url.firstRange(of: "://")?.upperBound else { return false }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        // A user in front would be another way to write a host.
        guard !authority.contains("@") else { return false }
        if authority.hasPrefix("[") { return authority.hasPrefix("[::1]") }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }

    /// By the numbers of CURLcode.
    private func error(_ code: Int32, _ receiver: Receiver, _ text: String, _ request: WebRequest) -> WebError {
        let words = text.isEmpty ? switchboard_curl_error(easyStrerror, code).map { String(cString: $0) } ?? "error \(code)" : text
        switch code {
        case 5, 6, 7: return WebError(.unreachable, words)
        case 28: return WebError(.timeout, "there was no whole answer within \(request.milliseconds) ms")
        case 23 where receiver.isTooLarge: return WebError(.tooLarge, "the answer is longer than \(request.maximumAnswer) bytes")
        case 35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91, 98: return WebError(.insecure, words)
        case 27: return WebError(.tooLarge, "a field of the answer is longer than it may be")
        case 42: return WebError(.stopped, "it was stopped")
        default: return WebError(.broken, words)
        }
    }
}
