// SPDX-License-Identifier: MIT
//
// Which languages Vonage speaks and understands, as tables that a person can compare with the reference. They are of 2022 and grow at Vonage,
// so that the types of this module do not refuse by them; who checks an NCCO warns by them.

/// The voices of `talk`.
///
/// - Source: Vonage Voice API, text-to-speech guide, supported languages (2022-06).
package enum TextToSpeech {
    /// A language with its voices.
    package struct Language: Hashable, Sendable {
        /// The code as BCP 47 writes it.
        package let code: String
        /// The voices, ascending; there may be gaps.
        package let styles: [Int]
        /// Those of them that have a premium form.
        package let premiumStyles: [Int]
        /// Those of them that do not take SSML.
        package let stylesWithoutSSML: [Int]
    }

    /// All languages whose voices are known, by code.
    package static let languages: [Language] = table.map {
        Language(code: $0.code, styles: numbers($0.styles), premiumStyles: numbers($0.premium), stylesWithoutSSML: numbers($0.withoutSSML))
    }

    /// Codes that Vonage's SDKs know and the guide does not: there is nothing to say about their voices.
    package static let furtherCodes = ["de-AT", "de-ET", "en-GB-SCT", "en-IE", "en-NZ", "es-CO", "gl-ES", "no-NO"]

    /// The language of that code, in upper or lower case; nil where its voices are not known.
    package static func language(_ code: String) -> Language? { byCode[folded(code)] }

    /// Whether the code is one of the guide or of an SDK, in upper or lower case.
    package static func isKnown(_ code: String) -> Bool { language(code) != nil || foldedFurtherCodes.contains(folded(code)) }

    private static let byCode = Dictionary(languages.map { (folded($0.code), $0) }, uniquingKeysWith: { first, _ in first })
    private static let foldedFurtherCodes = Set(furtherCodes.map(folded))

    /// `0-7,9` is 0 to 7 and 9.
    private static func numbers(_ list: String) -> [Int] {
        list.split(separator: ",").flatMap { part in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [Int]() }
            return Array(first...last)
        }
    }

    private static let table: [(code: String, styles: String, premium: String, withoutSSML: String)] = [
        ("af-ZA", "0", "", ""),
        ("ar", "0-7", "1,3,4,7", "2,5,6"),
        ("bg-BG", "0", "", ""),
        ("bn-IN", "0,1", "0,1", ""),
        ("ca-ES", "0-2", "", "0,1"),
        ("cmn-CN", "0-5", "1,2,4,5", "3"),
        ("cmn-TW", "0-3", "1-3", "0"),
        ("cs-CZ", "0-2", "0", "1,2"),
        ("cy-GB", "0", "", ""),
        ("da-DK", "0-5", "1,3-5", ""),
        ("de-DE", "0-10", "2,4-8", "9,10"),
        ("el-GR", "0-2", "0", "1,2"),
        ("en-AU", "0-5", "1,2,4,5", ""),
        ("en-GB", "0-7,9", "2,3,5-7", "9"),
        ("en-GB-WLS", "0", "", ""),
        ("en-IN", "0-6", "2-5", "6"),
        ("en-US", "0-23", "5,6,10-14,20-22", "15-19,23"),
        ("en-ZA", "0", "", "0"),
        ("es-ES", "0-8", "5,6,8", "3,7"),
        ("es-MX", "0", "", ""),
        ("es-US", "0-5", "3-5", ""),
        ("eu-ES", "0", "", "0"),
        ("fi-FI", "0,1", "0", "1"),
        ("fil-PH", "0-3", "0-3", ""),
        ("fr-CA", "0-4", "1-4", ""),
        ("fr-FR", "0-9", "2-4,6,7", "8,9"),
        ("gu-IN", "0,1", "0,1", ""),
        ("he-IL", "0", "", "0"),
        ("hi-IN", "0-5", "1,3-5", "2"),
        ("hu-HU", "0,1", "0", "1"),
        ("id-ID", "0-4", "0,2-4", "1"),
        ("is-IS", "0-2", "", ""),
        ("it-IT", "0-6", "2,3,5,6", ""),
        ("ja-JP", "0-5", "1,2,4,5", ""),
        ("kn-IN", "0,1", "", ""),
        ("ko-KR", "0-5", "1,2,4,5", "3"),
        ("lv-LV", "0", "", ""),
        ("ml-IN", "0,1", "0,1", ""),
        ("ms-MY", "0-3", "0-3", ""),
        ("nb-NO", "0-7", "1-5", "6,7"),
        ("nl-BE", "0,2", "0,2", ""),
        ("nl-NL", "0-6", "1-3,5,6", ""),
        ("pa-IN", "0-3", "0-3", ""),
        ("pl-PL", "0-8", "2-4,7,8", ""),
        ("pt-BR", "0-5", "1", "2,4"),
        ("pt-PT", "0-7", "1,2,6,7", "3,4"),
        ("ro-RO", "0-2", "2", "1"),
        ("ru-RU", "0-6", "1-3,5,6", ""),
        ("sk-SK", "0,1", "0", "1"),
        ("sr-RS", "0", "", ""),
        ("sv-SE", "0-3", "1", "2,3"),
        ("ta-IN", "0,1", "0,1", ""),
        ("te-IN", "0,1", "", ""),
        ("th-TH", "0,1", "", "0"),
        ("tr-TR", "0-7", "1-3,5,6", "4,7"),
        ("uk-UA", "0", "0", ""),
        ("vi-VN", "0-3", "0-3", ""),
        ("yue-CN", "0", "", "0"),
        ("yue-HK", "0-3", "", ""),
    ]
}

/// The languages that `input` and transcriptions understand.
///
/// - Source: Vonage Voice API, speech recognition guide, supported languages (2022).
package enum SpeechRecognition {
    /// All codes, as the guide writes them; `zh` and `zh-TW` are other names of `cmn-hans-cn` and `cmn-hant-TW`.
    package static let codes: [String] = list.split { $0.isWhitespace }.map(String.init)

    /// Whether the guide has the code, in upper or lower case.
    package static func isKnown(_ code: String) -> Bool { foldedCodes.contains(folded(code)) }

    private static let foldedCodes = Set(codes.map(folded))

    private static let list = """
        af-ZA am-ET ar-AE ar-BH ar-DZ ar-EG ar-IL ar-IQ ar-JO ar-KW ar-LB ar-MA ar-OM ar-PS ar-QA ar-SA ar-TN az-AZ bg-BG bn-BD bn-IN
        ca-ES cmn-hans-cn cmn-hant-TW cs-CZ da-DK de-DE el-GR en-AU en-CA en-GB en-GH en-IE en-IN en-KE en-NG en-NZ en-PH en-SG en-TZ
        en-US en-ZA es-AR es-BO es-CL es-CO es-CR es-DO es-EC es-ES es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-PY es-SV es-US es-UY
        es-VE et-EE eu-ES fa-IR fi-FI fil-PH fr-CA fr-FR gl-ES gu-IN he-IL hi-IN hr-HR hu-HU hy-AM id-ID is-IS it-IT ja-JP jv-ID ka-GE
        km-KH kn-IN ko-KR lo-LA lt-LT lv-LV mk-MK ml-IN mn-MN mr-IN ms-MY my-MM nb-NO ne-NP nl-BE nl-NL pa-guru-IN pl-PL pt-BR pt-PT
        ro-RO ru-RU si-LK sk-SK sl-SI sq-AL sr-RS su-ID sv-SE sw-KE sw-TZ ta-IN ta-LK ta-MY ta-SG te-IN th-TH tr-TR uk-UA ur-IN ur-PK
        uz-UZ vi-VN yue-hant-HK zh zh-TW zu-ZA
        """
}

/// Only ASCII letters have cases in a language code.
private func folded(_ code: String) -> [UInt8] {
    code.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
}
