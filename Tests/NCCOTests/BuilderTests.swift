// SPDX-License-Identifier: MIT
//
// Foundation is imported here on purpose: it has a `Stream` of its own.

import Foundation
import NCCO
import Testing

struct BuilderTests {
    private func texts(_ ncco: NCCO) -> [String] {
        ncco.actions.map { action in
            switch action {
            case .talk(let talk): talk.text.description
            case .stream(let stream): stream.streamURL.description
            default: "another"
            }
        }
    }

    @Test func `actions stand one behind the other`() {
        #expect(
            NCCO {
                Talk("Please wait.")
                Connect(to: .phone("447700900123"), from: "14155550100", timeout: 30)
            } == [.talk(Talk("Please wait.")), .connect(Connect(to: .phone("447700900123"), from: "14155550100", timeout: 30))])
        #expect(NCCO {} == [])
    }

    @Test(arguments: [true, false]) func `a condition chooses`(isOpen: Bool) {
        let ncco = NCCO {
            if isOpen { Talk("Welcome.") }
            if isOpen { Talk("open") } else { Talk("closed") }
        }
        #expect(texts(ncco) == (isOpen ? ["Welcome.", "open"] : ["closed"]))
    }

    @Test(arguments: ["de", "fr", nil]) func `a switch and an optional choose`(language: String?) {
        let ncco = NCCO {
            if let language {
                switch language {
                case "de": Talk("Hallo.")
                default: Talk("Bonjour.")
                }
            }
        }
        #expect(texts(ncco) == (language == "de" ? ["Hallo."] : language == "fr" ? ["Bonjour."] : []))
    }

    @Test func `a loop repeats`() {
        let urls: [WebURL] = ["https://example.com/1.mp3", "https://example.com/2.mp3"]
        #expect(texts(NCCO { for url in urls { NCCO.Stream(url) } }) == urls.map(\.description))
    }

    @Test func `a condition of availability may stand in between`() {
        let ncco = NCCO { if #available(macOS 99, *) { Talk("new") } }
        #if os(Linux)
            #expect(texts(ncco) == ["new"])
        #else
            #expect(texts(ncco).count <= 1)
        #endif
    }

    @Test func `actions, lists of them and other NCCOs may stand inside`() {
        let inner: NCCO = [.talk(Talk("b"))]
        #expect(
            texts(
                NCCO {
                    Action.talk(Talk("a"))
                    inner
                    [.talk(Talk("c")), .talk(Talk("d"))]
                }) == ["a", "b", "c", "d"])
    }

    @Test func `what is thrown inside comes out`() throws {
        let text = ""
        #expect(throws: NCCOError.self) { try NCCO { Talk(try SpokenText(checking: text)) } }
    }
}
