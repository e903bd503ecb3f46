// SPDX-License-Identifier: MIT

import Testing

@testable import EventLog

@Suite struct RepeatWindowTests {
    private func noted(_ window: inout RepeatWindow, _ hash: UInt64) -> Bool {
        defer { window.keep() }
        return window.note(hash)
    }

    @Test func `an event counts among exactly as many as the window holds`() {
        var window = RepeatWindow(capacity: 3)
        #expect([7, 1, 2, 7].map { noted(&window, $0) } == [false, false, false, true])
        #expect([1, 2, 3, 7].map { noted(&window, $0) } == [true, true, false, false])
    }

    @Test func `what was taken back never came`() {
        var window = RepeatWindow(capacity: 4)
        #expect(!noted(&window, 1))
        let results = [window.note(1), window.note(2), window.note(2)]
        #expect(results == [true, false, true])
        window.takeBack()
        #expect(!noted(&window, 2))
        #expect(noted(&window, 1))
    }

    @Test func `any sequence agrees with a plain search`() {
        var generator = SeededGenerator(state: 3)
        for capacity in [1, 2, 5, 16] {
            var window = RepeatWindow(capacity: capacity)
            var past: [UInt64] = []
            for _ in 0..<500 {
                let noted = (0..<Int.random(in: 1...20, using: &generator)).map { _ in UInt64.random(in: 0..<24, using: &generator) }
                let before = past
                for hash in noted {
                    let isRepeat = window.note(hash)
                    #expect(isRepeat == past.suffix(capacity).contains(hash))
                    past.append(hash)
                }
                if Bool.random(using: &generator) {
                    window.keep()
                } else {
                    window.takeBack()
                    past = before
                }
            }
        }
    }

    @Test func `equal bytes have equal hashes and others do not`() {
        let hashes = [[1, 2, 3], [1, 2, 3], [1, 2, 4]].map { RepeatWindow.hash($0.span) }
        #expect(hashes[0] == hashes[1])
        #expect(hashes[0] != hashes[2])
    }
}
