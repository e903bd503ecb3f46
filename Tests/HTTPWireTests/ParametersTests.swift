// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@Suite struct `Names and values` {
    private func pairs(_ parameters: Parameters) -> [[Bytes]] {
        parameters.entries.map { [Bytes(Array(parameters.bytes[$0.name])), Bytes(Array(parameters.bytes[$0.value]))] }
    }

    @Test(arguments: try ParameterList.all("parameters")) func `are read from a query or a form`(_ vector: ParameterList) {
        var parameters = Parameters()
        parameters.parse(0..<vector.text.all.count, in: vector.text.all.span)
        #expect(pairs(parameters) == vector.pairs)
        // Nothing outside the range is looked at: not the digits that would make an escape whole.
        let wide = Array("x%".utf8) + vector.text.all + Array("41&z=1".utf8)
        parameters.removeAll()
        #expect(parameters.bytes == [] && parameters.entries == [])
        parameters.parse(2..<2 + vector.text.all.count, in: wide.span)
        #expect(pairs(parameters) == vector.pairs)
    }

    @Test func `have the value that came first`() {
        var parameters = Parameters()
        let text = Array("to=1&%74o=2&TO=3".utf8)
        parameters.parse(0..<text.count, in: text.span)
        #expect(parameters.value(of: "to").map { Array(parameters.bytes[$0]) } == Array("1".utf8))
        #expect(parameters.value(of: "TO").map { Array(parameters.bytes[$0]) } == Array("3".utf8))
        #expect(parameters.value(of: "t") == nil)
        #expect(parameters.value(of: "too") == nil)
    }

    @Test func `are added as they are`() {
        var parameters = Parameters()
        let (name, value) = (Array("a%41+".utf8), Array("&=\0".utf8))
        parameters.append(name: name.span, value: value.span)
        let text = Array("b=%42".utf8)
        parameters.parse(0..<text.count, in: text.span)
        #expect(pairs(parameters) == [["a%41+", "&=\0"], ["b", "B"]])
    }

    @Test func `are not read beyond the text`() {
        var parameters = Parameters()
        let text = Array("a=1".utf8)
        parameters.parse(0..<100, in: text.span)
        #expect(pairs(parameters) == [["a", "1"]])
    }
}

@Suite struct `A path` {
    @Test(arguments: try PathForm.all("paths")) func `is decoded once or refused`(_ vector: PathForm) {
        let path = vector.path.all
        #expect(decodePath(0..<path.count, in: path.span) == vector.decoded?.all)
        let wide = Array("/..%".utf8) + path + Array("41/../%00".utf8)
        #expect(decodePath(4..<4 + path.count, in: wide.span) == vector.decoded?.all)
    }

    @Test func `has every byte escaped or refused`() {
        let refused: Set<UInt8> = [0, UInt8(ascii: "/"), UInt8(ascii: "\\")]
        for byte in UInt8.min...UInt8.max {
            let digits = String(byte, radix: 16)
            let path = Array("/%\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8)
            #expect(decodePath(0..<path.count, in: path.span) == (refused.contains(byte) ? nil : [UInt8(ascii: "/"), byte]), "\(byte)")
        }
    }
}
