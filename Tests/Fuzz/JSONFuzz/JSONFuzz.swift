// SPDX-License-Identifier: MIT
//
// Arbitrary bytes against every reader and writer of `JSON`: minifier and parser agree, a minified text minifies to itself, the lenient
// readers stay inside the text, and whatever is written can be read. A broken promise traps, and libFuzzer keeps the input.

import JSON

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let minified = minify(input)
    let node = try? parseJSON(input.span)
    precondition((minified == nil) == (node == nil), "minifier and parser disagree")
    if let minified, let node {
        precondition(minify(minified) == minified, "a minified text changes")
        var encoded: [UInt8] = []
        node.encode(into: &encoded)
        precondition(encoded == minified, "tree and minifier write differently")
        precondition(skipJSONValue(in: minified.span, from: 0) == minified.count, "a value is not skipped to its end")
    }

    var members = JSONMembers(in: input.span)
    while let member = members.next(in: input.span) {
        precondition(member.name.upperBound < member.value.lowerBound && member.value.upperBound <= count, "a member outside the text")
        var name: [UInt8] = []
        decodeJSONString(member.name, in: input.span, into: &name)
        precondition(name.count <= member.name.count, "unescaping makes longer")
        var inner = JSONMembers(member.value, in: input.span)
        while let part = inner.next(in: input.span) {
            precondition(part.value.upperBound <= member.value.upperBound, "a part outside its member")
        }
    }
    for from in 0..<min(count, 16) {
        if let end = skipJSONValue(in: input.span, from: from) { precondition(end > from && end <= count, "a value outside the text") }
    }

    var written: [UInt8] = []
    written.appendJSONString(input.span)
    precondition(minify(written) == written, "a written string is refused")
    var read: [UInt8] = []
    decodeJSONString(1..<written.count - 1, in: written.span, into: &read)
    precondition(read.elementsEqual(String(decoding: input, as: UTF8.self).utf8), "a written string reads differently")
    precondition(!isValidUTF8(input.span) || read == input, "valid UTF-8 was changed")
    return 0
}

private func minify(_ bytes: [UInt8]) -> [UInt8]? {
    var output: [UInt8] = []
    do {
        _ = try minifyJSON(bytes.span, into: &output)
        return output
    } catch {
        precondition(output.isEmpty && error.offset <= bytes.count, "a refusal leaves traces")
        return nil
    }
}
