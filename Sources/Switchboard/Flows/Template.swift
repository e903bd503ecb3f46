// SPDX-License-Identifier: MIT
//
// A template, compiled: the bytes that never change, and between them gaps that a request fills. Values are put into decoded strings and escaped
// behind that, so none can add to the JSON. Each gap knows what its option may hold and checks the value before it is written. Where a gap
// stands in an option that has more rules than a look at one value can tell, the whole NCCO is checked by lint once it is filled.

import HTTPWire
import JSON
import NCCO

/// What a value must be where it is put.
enum GapCheck: Sendable, Equatable {
    case phoneNumber
    /// As `phoneNumber`, but what is none is left out: a caller who hides the number must not lose the call for it.
    case callerID
    case userName
    /// Plain: what a value brings is spoken as it is, and never read as SSML.
    case spokenText
    /// The template's own SSML.
    case spokenMarkup
    /// Any text but an empty one.
    case text
    /// A piece of a URL that begins with one of ours.
    case url
    /// Becomes a number, or true or false, where it looks like one.
    case scalar
    /// An object, also from text that is one.
    case object
    case anything
}

/// How a value is written inside of a string.
enum GapEscape: Sendable {
    case plain
    /// Between the tags of SSML.
    case markup
    /// Behind the host of a URL.
    case percent
}

/// A placeholder's value, or what stands in its place.
struct GapValue: Sendable {
    enum Source: Sendable {
        case slot(Int)
        case baseURL, refusal, none
    }

    let source: Source
    /// Where there is no value; nil leaves the option out.
    let standard: [UInt8]?
}

/// A piece of a string that is put together.
enum StringPiece: Sendable {
    case literal([UInt8])
    case value(GapValue, GapEscape)
}

/// A place that a request fills. A class: filling one counts one reference.
final class Gap: Sendable {
    enum Content: Sendable {
        /// A string that is one placeholder and nothing else.
        case whole(GapValue)
        case string([StringPiece])
    }

    let content: Content
    let check: GapCheck
    /// As Vonage spells it, for messages.
    let option: String
    /// Of a phone number, nearly all that gaps are for; -1 for anything else.
    let numberSlot: Int
    /// Its value, or something inside of it, is a number that will be dialled.
    let isDialled: Bool

    init(content: Content, check: GapCheck, option: String, isDialled: Bool) {
        self.content = content
        self.check = check
        self.option = option
        self.isDialled = isDialled
        if check == .phoneNumber || check == .callerID, case .whole(let value) = content, case .slot(let slot) = value.source {
            numberSlot = slot
        } else {
            numberSlot = -1
        }
    }

    fileprivate var usesBaseURL: Bool {
        func isBaseURL(_ value: GapValue) -> Bool { if case .baseURL = value.source { true } else { false } }
        switch content {
        case .whole(let value): return isBaseURL(value)
        case .string(let pieces): return pieces.contains { if case .value(let value, _) = $0 { isBaseURL(value) } else { false } }
        }
    }

    fileprivate var sample: [UInt8] {
        let placeholder = Array("{{value}}".utf8)
        guard case .string(let pieces) = content else { return placeholder }
        return pieces.flatMap { if case .literal(let text) = $0 { text } else { placeholder } }
    }
}

enum Segment: Sendable {
    case literal(Range<Int>)
    /// Between two members, of which the one in front may have been left out.
    case comma
    case gap(Int)
    /// An option that is left out where its value is missing; prefix and suffix stand around it.
    case option(prefix: Range<Int>, gap: Int, suffix: Range<Int>, mayNeedComma: Bool)
}

/// What is at hand besides the request.
struct RenderContext {
    var baseURL: [UInt8] = []
    var refusal: StaticString = ""
}

final class Template: Sendable {
    enum Outcome: Equatable {
        /// `leftOut`: a caller id that is no phone number.
        case filled(leftOut: Bool)
        /// The gap whose value is missing or does not fit.
        case failed(gap: Int)
        case breaksRule
        /// The request brought a number that the dial plan denies.
        case denied(DeniedNumber)
    }

    let name: String
    let gaps: [Gap]
    /// It has a `connect`.
    let dials: Bool
    let usesBaseURL: Bool
    private let bytes: [UInt8]
    private let segments: [Segment]
    private let needsCheck: Bool

    init(name: String, bytes: [UInt8], segments: [Segment], gaps: [Gap], needsCheck: Bool, dials: Bool) {
        self.name = name
        self.dials = dials
        self.bytes = bytes
        self.segments = segments
        self.gaps = gaps
        usesBaseURL = gaps.contains(where: \.usesBaseURL)
        self.needsCheck = needsCheck
    }

    /// Appends the filled template. What is appended where it failed is of no use.
    func render(
        _ request: inout FlowRequest, _ paths: [ParameterPath], _ plan: DialPlan, _ context: borrowing RenderContext,
        into output: inout [UInt8]
    ) -> Outcome {
        let start = output.count
        var (leftOut, holdsTree) = (false, false)
        for index in segments.indices {
            switch segments[index] {
            case .literal(let range): append(range, to: &output)
            case .comma: appendComma(to: &output)
            case .gap(let gap):
                switch fill(gap, &request, paths, plan, context, into: &output) {
                case .written: break
                case .tree: holdsTree = true
                case .missing, .wrong: return .failed(gap: gap)
                case .denied(let number): return .denied(number)
                }
            case .option(let prefix, let gap, let suffix, let mayNeedComma):
                let before = output.count
                if mayNeedComma { appendComma(to: &output) }
                append(prefix, to: &output)
                switch fill(gap, &request, paths, plan, context, into: &output) {
                case .written: append(suffix, to: &output)
                case .tree:
                    holdsTree = true
                    append(suffix, to: &output)
                case .missing: output.removeLast(output.count - before)
                case .denied(let number): return .denied(number)
                case .wrong:
                    guard gaps[gap].check == .callerID else { return .failed(gap: gap) }
                    output.removeLast(output.count - before)
                    leftOut = true
                }
            }
        }
        // An object of the caller's may be too deep, or have a key twice.
        if needsCheck || holdsTree, breaksRule(output.span.extracting(start..<output.count)) { return .breaksRule }
        return .filled(leftOut: leftOut)
    }

    private func breaksRule(_ ncco: Span<UInt8>) -> Bool {
        func hasError(_ ncco: Span<UInt8>) -> Bool { NCCO.rawFindings(ncco).findings.contains { $0.severity == .error } }
        if let plain = withoutPlaceholders(ncco) { return hasError(plain.span) }
        return hasError(ncco)
    }

    /// With what is known filled in, and a placeholder in each gap: for lint, which must look at variables beside what stands around them.
    var sample: [UInt8] {
        var sample: [UInt8] = []
        for segment in segments {
            switch segment {
            case .literal(let range): append(range, to: &sample)
            case .comma: appendComma(to: &sample)
            case .gap(let gap): sample.appendJSONString(gaps[gap].sample.span)
            case .option(let prefix, let gap, let suffix, let mayNeedComma):
                if mayNeedComma { appendComma(to: &sample) }
                append(prefix, to: &sample)
                sample.appendJSONString(gaps[gap].sample.span)
                append(suffix, to: &sample)
            }
        }
        return sample
    }

    private func append(_ range: Range<Int>, to output: inout [UInt8]) { output.append(contentsOf: bytes[range]) }

    private func appendComma(to output: inout [UInt8]) {
        if let last = output.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { output.append(UInt8(ascii: ",")) }
    }

    // MARK: Gaps

    private enum Filling {
        case written
        /// As `written`, and it is an object or an array that the request brought.
        case tree
        case missing, wrong
        case denied(DeniedNumber)
    }

    /// Only what a request brings is held against the plan: the numbers of variables, defaults and settings are meant to be dialled.
    private func fill(
        _ index: Int, _ request: inout FlowRequest, _ paths: [ParameterPath], _ plan: DialPlan, _ context: borrowing RenderContext,
        into output: inout [UInt8]
    ) -> Filling {
        let gap = gaps[index]
        let check = gap.check
        if gap.numberSlot >= 0, request.value(gap.numberSlot, paths) != nil {
            if let number = request.number(gap.numberSlot, paths) {
                if gap.isDialled, case .denied(let denial) = plan.verdict(for: number) {
                    return .denied(DeniedNumber(number: number, denial: denial))
                }
                output.append(UInt8(ascii: "\""))
                number.appendDigits(to: &output)
                output.append(UInt8(ascii: "\""))
                return .written
            }
            // Who hides the number gets the one that stands in for it.
            guard check == .callerID, case .whole(let value) = gap.content, let standard = value.standard else { return .wrong }
            return write(text: standard.span, check, into: &output)
        }
        switch gap.content {
        case .string(let pieces):
            var text: [UInt8] = []
            swap(&text, &request.scratch)
            defer { swap(&text, &request.scratch) }
            text.removeAll(keepingCapacity: true)
            var isOfRequest = false
            for piece in pieces {
                switch piece {
                case .literal(let literal): text.append(contentsOf: literal)
                case .value(let value, let escape):
                    if append(value, escape, &request, paths, context, to: &text) { isOfRequest = true }
                }
            }
            if gap.isDialled, isOfRequest, let number = PhoneNumber(lenient: text.span),
                case .denied(let denial) = plan.verdict(for: number)
            {
                return .denied(DeniedNumber(number: number, denial: denial))
            }
            return write(text: text.span, check, into: &output)
        case .whole(let value):
            switch value.source {
            case .slot(let slot):
                guard let found = request.value(slot, paths) else { break }
                let start = output.count
                let filling = request.withBytes(found) {
                    found.isJSON ? write(json: $0, check, into: &output) : write(text: $0, check, into: &output)
                }
                if gap.isDialled, case .tree = filling, let denied = plan.deniedNumber(in: output.span.extracting(start..<output.count)) {
                    return .denied(denied)
                }
                return filling
            case .baseURL: return write(text: context.baseURL.span, check, into: &output)
            case .refusal where context.refusal.utf8CodeUnitCount > 0:
                var sentence: [UInt8] = []
                sentence.append(context.refusal)
                return write(text: sentence.span, check, into: &output)
            case .refusal, .none: break
            }
            guard let standard = value.standard else { return .missing }
            return write(text: standard.span, check == .spokenText ? .spokenMarkup : check, into: &output)
        }
    }

    /// Writes a text in the type that its option has.
    private func write(text: Span<UInt8>, _ check: GapCheck, into output: inout [UInt8]) -> Filling {
        switch check {
        case .phoneNumber, .callerID:
            guard let number = PhoneNumber(lenient: text) else { return .wrong }
            output.append(UInt8(ascii: "\""))
            number.appendDigits(to: &output)
            output.append(UInt8(ascii: "\""))
            return .written
        case .userName: guard UserName(utf8: text) != nil else { return .wrong }
        case .spokenText where text.count >= 6 && text.equalsExactly("<speak", at: 0..<6):
            // SSML is what begins with its tag: behind a blank it is text, tags included.
            var plain: [UInt8] = [UInt8(ascii: " ")]
            for at in 0..<text.count { plain.append(text[at]) }
            return write(text: plain.span, check, into: &output)
        case .spokenText, .spokenMarkup:
            guard SpokenText.range.contains(SpokenText.spokenLength(ofUTF8: text)) else { return .wrong }
        case .text, .url: guard text.count > 0 else { return .wrong }
        case .scalar:
            if isBareScalar(text) {
                for at in 0..<text.count { output.append(text[at]) }
                return .written
            }
        case .object:
            let start = output.count
            guard (try? minifyJSON(text, into: &output)) != nil, output[start] == UInt8(ascii: "{") else { return .wrong }
            return .tree
        case .anything: break
        }
        output.appendJSONString(text)
        return .written
    }

    /// Writes a number, boolean, object or array.
    private func write(json: Span<UInt8>, _ check: GapCheck, into output: inout [UInt8]) -> Filling {
        let isScalar = json[0] != UInt8(ascii: "{") && json[0] != UInt8(ascii: "[")
        switch check {
        case .phoneNumber, .callerID, .spokenText, .spokenMarkup, .text, .url:
            // A number can be read out, and can be a name.
            return isScalar ? write(text: json, check, into: &output) : .wrong
        case .userName: return .wrong
        case .scalar where !isScalar: return .wrong
        case .object where json[0] != UInt8(ascii: "{"): return .wrong
        case .scalar, .object, .anything:
            for at in 0..<json.count { output.append(json[at]) }
            return isScalar ? .written : .tree
        }
    }

    /// Whether the request brought the value.
    private func append(
        _ value: GapValue, _ escape: GapEscape, _ request: inout FlowRequest, _ paths: [ParameterPath], _ context: borrowing RenderContext,
        to text: inout [UInt8]
    ) -> Bool {
        switch value.source {
        case .slot(let slot):
            if let found = request.value(slot, paths) {
                request.withBytes(found) { text.append($0, escaped: escape) }
                return true
            }
        case .baseURL:
            text.append(contentsOf: context.baseURL)
            return false
        case .refusal:
            if context.refusal.utf8CodeUnitCount > 0 {
                text.append(context.refusal)
                return false
            }
        case .none: break
        }
        if let standard = value.standard { text.append(standard.span, escaped: escape) }
        return false
    }
}

/// A copy of an NCCO in which no string has two braces behind one another: lint would take them for a placeholder, of which none is left once
/// a template is filled, and ask nothing more of the value. Nil where there is nothing to replace.
private func withoutPlaceholders(_ ncco: Span<UInt8>) -> [UInt8]? {
    func isBrace(_ at: Int) -> Bool {
        ncco.equalsIgnoringCase("\\u007b", at: at..<min(at + 6, ncco.count))
            || at > 0 && ncco[at] == UInt8(ascii: "{") && ncco[at - 1] == UInt8(ascii: "{")
    }
    guard ncco.indices.contains(where: isBrace) else { return nil }
    var copy: [UInt8] = []
    var at = 0
    while at < ncco.count {
        if isBrace(at) {
            copy.append(UInt8(ascii: "."))
            at += ncco[at] == UInt8(ascii: "{") ? 1 : 6
        } else {
            let length = ncco[at] == UInt8(ascii: "\\") && at + 1 < ncco.count ? 2 : 1
            for next in at..<at + length { copy.append(ncco[next]) }
            at += length
        }
    }
    return copy
}

/// `true`, `false`, or a number that JSON and Vonage read in the same way.
private func isBareScalar(_ text: Span<UInt8>) -> Bool {
    if text.equalsExactly("true", at: 0..<text.count) || text.equalsExactly("false", at: 0..<text.count) { return true }
    guard text.count <= 20 else { return false }
    var at = 0
    func digits() -> Int {
        let start = at
        while at < text.count, (0x30...0x39).contains(text[at]) { at += 1 }
        return at - start
    }
    if at < text.count, text[at] == UInt8(ascii: "-") { at += 1 }
    let first = at
    let count = digits()
    guard count == 1 || count > 1 && text[first] != 0x30 else { return false }
    if at < text.count, text[at] == UInt8(ascii: ".") {
        at += 1
        guard digits() > 0 else { return false }
    }
    return at == text.count
}

extension [UInt8] {
    /// Appends a value so that it stays a value where it is put.
    mutating func append(_ value: Span<UInt8>, escaped escape: GapEscape) {
        switch escape {
        case .plain: for at in 0..<value.count { append(value[at]) }
        case .markup:
            for at in 0..<value.count {
                switch value[at] {
                case UInt8(ascii: "&"): append("&amp;")
                case UInt8(ascii: "<"): append("&lt;")
                case UInt8(ascii: ">"): append("&gt;")
                case UInt8(ascii: "\""): append("&quot;")
                case UInt8(ascii: "'"): append("&apos;")
                default: append(value[at])
                }
            }
        case .percent:
            for at in 0..<value.count {
                switch value[at] {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                    append(value[at])
                default:
                    append(UInt8(ascii: "%"))
                    for digit in [value[at] >> 4, value[at] & 15] { append(digit < 10 ? 0x30 + digit : 0x37 + digit) }
                }
            }
        }
    }
}
