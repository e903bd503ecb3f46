// SPDX-License-Identifier: MIT

import NCCO
import Testing

struct LanguageTests {
    @Test func `a voice is found without regard to case`() throws {
        let english = try #require(TextToSpeech.language("EN-gb"))
        #expect(english.code == "en-GB")
        #expect(english.styles == [0, 1, 2, 3, 4, 5, 6, 7, 9])
        #expect(english.premiumStyles == [2, 3, 5, 6, 7])
        #expect(english.stylesWithoutSSML == [9])
        #expect(TextToSpeech.language("nl-BE")?.styles == [0, 2])
        #expect(TextToSpeech.language("he-IL")?.stylesWithoutSSML == [0])
        #expect(TextToSpeech.language("de-AT") == nil)
        #expect(TextToSpeech.isKnown("DE-at"))
        #expect(!TextToSpeech.isKnown("xx-XX"))
    }

    @Test func `the table of voices holds together`() {
        #expect(TextToSpeech.languages.count == 59)
        #expect(TextToSpeech.languages.map(\.styles.count).reduce(0, +) == 267)
        #expect(Set(TextToSpeech.languages.map(\.code)).count == 59)
        for language in TextToSpeech.languages {
            #expect(LanguageTag(language.code) != nil)
            #expect(language.styles == language.styles.sorted() && language.styles.first == 0)
            #expect(Set(language.styles).isSuperset(of: language.premiumStyles + language.stylesWithoutSSML), "\(language.code)")
        }
        for code in TextToSpeech.furtherCodes { #expect(TextToSpeech.language(code) == nil && LanguageTag(code) != nil) }
    }

    @Test func `codes of speech recognition are found without regard to case`() {
        #expect(SpeechRecognition.codes.count == 129)
        for code in SpeechRecognition.codes { #expect(LanguageTag(code) != nil && SpeechRecognition.isKnown(code.uppercased())) }
        #expect(SpeechRecognition.isKnown("en-gb"))
        #expect(!SpeechRecognition.isKnown("cy-GB"))
    }

    @Test(arguments: ["en-GB", "en-gb", "ar", "yue-CN", "cmn-hans-cn", "en-GB-WLS", "fil-PH"])
    func `a language tag is kept as it came`(text: String) { #expect(LanguageTag(text)?.description == text) }

    @Test(arguments: [
        "", "e", "engl", "en-", "-GB", "en--GB", "en_GB", "en-G", "en-GB-", "e1", "en GB", "en-GB\n", "en-é", "en-123456789", "a-b-c-d-e",
    ])
    func `what has not the shape of a language tag is none`(text: String) { #expect(LanguageTag(text) == nil) }
}
