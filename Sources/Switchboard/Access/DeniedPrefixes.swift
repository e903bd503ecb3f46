// SPDX-License-Identifier: MIT
//
// What may not be dialled unless somebody allows it: numbers that pay the one who is called, that cost more than a call to where they seem to
// be, or that end at a satellite. No country is denied as a whole, and nothing in which a line of a home, an office or a mobile can lie.
//
// Each range is one that the plan named beside it designates so, and none holds a number that libphonenumber 9.0 takes for a fixed line or a
// mobile of a country (tried with a thousand numbers of each length). Left out is what a prefix cannot tell from ordinary numbers: the exchange 976 of area codes
// of the North American plan, Ireland's 15xx (Dublin's numbers begin 1 5), the 900 of Hong Kong (so do mobiles there).

enum DeniedPrefixes {
    struct Group: Sendable {
        /// Whose numbers these are, in a few words.
        let name: String
        let prefixes: [UInt64]

        init(_ name: String, _ prefixes: UInt64...) {
            self.name = name
            self.prefixes = prefixes
        }
    }

    static let groups = [
        // ITU-T, list of Recommendation ITU-T E.164 assigned country codes, annexed to the ITU Operational Bulletin: codes that belong to no
        // country.
        Group("satellite", 870, 881),  // Inmarsat SNAC; the Global Mobile Satellite System
        Group("international networks", 882, 883),  // satellite and ship networks among them
        Group("international shared cost", 808),
        Group("international premium rate", 979),
        Group("universal personal number", 878),

        // North American Numbering Plan: NANPA, NPA 900, and the 5XX resources that began as personal communications services.
        Group("premium rate, North America", 1900),
        Group("personal number, North America", 1500, 1522, 1533, 1544, 1566, 1577, 1588),

        // Ofcom, The National Telephone Numbering Plan, part A: 070; 0843 to 0845, 0870 to 0873; 090, 091, 098.
        Group("premium rate, United Kingdom", 4490, 4491, 4498),
        Group("service charge, United Kingdom", 44843, 44844, 44845, 44870, 44871, 44872, 44873),
        Group("personal number, United Kingdom", 4470),

        // ComReg, Numbering Conditions of Use: 0700.
        Group("personal number, Ireland", 353_700),

        // Bundesnetzagentur, Nummernpläne (0)900, (0)137, (0)180, (0)700 and 118xy.
        Group("premium rate, Germany", 49900, 49118),
        Group("shared cost, Germany", 49137, 49180),
        Group("personal number, Germany", 49700),

        // RTR, KEM-V 2009: 0900, 0901, 0930, 0931, 0939; 0810, 0820, 0821.
        Group("premium rate, Austria", 43900, 43901, 43930, 43931, 43939),
        Group("shared cost, Austria", 43810, 43820, 43821),

        // BAKOM, Aufteilung der E.164-Nummern (SR 784.101.113/2.8): 0900, 0901, 0906; 084n; 0878.
        Group("premium rate, Switzerland", 41900, 41901, 41906),
        Group("shared cost, Switzerland", 41840, 41842, 41844, 41848),
        Group("personal number, Switzerland", 41878),

        // Arcep, plan national de numérotation: 081, 082 and 089 at a raised tariff; 080 is free or ordinary.
        Group("premium rate, France", 3389),
        Group("shared cost, France", 3381, 3382),

        // BIPT, royal decree of 27 April 2007: 090x; 070.
        Group("premium rate, Belgium", 3290),
        Group("shared cost, Belgium", 3270),

        // Nummerplan telefoon- en ISDN-diensten: 0900, 0906, 0909; 084 and 087 for personal assistants.
        Group("premium rate, Netherlands", 31900, 31906, 31909),
        Group("personal number, Netherlands", 3184, 3187),

        // Plan Nacional de Numeración, guide of the Dirección General de Telecomunicaciones, 4.2 to 4.4, and Orden IET/2733/2015.
        Group("premium rate, Spain", 34803, 34806, 34807, 34905, 34907),
        Group("shared cost, Spain", 34901, 34902),
        Group("personal number, Spain", 3470),

        // AGCOM, delibera 26/08/CIR, allegato A, articles 17 to 20. Geographic numbers of Italy begin with 0, mobiles with 3.
        Group("premium rate, Italy", 39144, 39166, 39892, 39893, 39894, 39895, 39899),
        Group("shared cost, Italy", 39840, 39841, 39847, 39848),
        Group("personal number, Italy", 39178, 39199),

        // Guide to the Danish Numbering Plan: 90. Nkom, E.164 numbering plan: 820, 829; 880.
        Group("premium rate, Denmark", 4590),
        Group("premium rate, Norway", 47820, 47829),
        Group("personal number, Norway", 47880),

        // PTS, telefoninummerplanen: 0900, 0939, 0944; 075.
        Group("premium rate, Sweden", 46900, 46939, 46944),
        Group("personal number, Sweden", 4675),

        // Traficom (then FICORA), service numbers: 0600 and 0700, with 0606, 0707 and 0708.
        Group("premium rate, Finland", 358_600, 358_606, 358_700, 358_707, 358_708),

        // ČTÚ, číslovací plán: 900, 906, 909; 81x, 83x, 843 to 846.
        Group("premium rate, Czechia", 420_900, 420_906, 420_909),
        Group("shared cost, Czechia", 42081, 42083, 420_843, 420_844, 420_845, 420_846),

        // ACMA, Telecommunications Numbering Plan 2015: 190. Anatel, Regulamento de Numeração: 0900, and 0500 for donations.
        Group("premium rate, Australia", 61190),
        Group("premium rate, Brazil", 55500, 55900),

        // Only as libphonenumber's metadata has them, which are made of the plans that countries notify to the ITU.
        Group("premium rate, Portugal", 351_601, 351_607, 351_608, 351_646, 351_648, 351_760, 351_761, 351_762),
        Group("shared cost, Portugal", 351_808, 351_809),
        Group("personal number, Portugal", 351_884),
        Group("premium rate, Poland", 48700, 48701, 48703, 48704, 48706, 48707, 48708),
        Group("shared cost, Poland", 48801),
        Group("premium rate, Hungary", 3690, 3691),
        Group("premium rate, Romania", 40900, 40903, 40906),
        Group("premium rate, Greece", 30901, 30909),
        Group("shared cost, Greece", 30801),
        Group("personal number, Greece", 3070),
        Group("premium rate, Turkey", 90900),
        Group("premium rate, Israel", 972_190),
        Group("premium rate, Russia", 7803, 7809),
        Group("premium rate, South Africa", 2790, 27862, 27863, 27864, 27865, 27866, 27867, 27868, 27869),
        Group("shared cost, South Africa", 27860),
        Group("premium rate, New Zealand", 64900),
        Group("premium rate, Singapore", 651_900),
        Group("premium rate, Japan", 81990),
        Group("premium rate, Mexico", 52900),
    ]

    static var all: [DialPrefix] { groups.flatMap { $0.prefixes.map { DialPrefix(digits: $0) } } }

    static func group(of prefix: DialPrefix) -> Group? { groups.first { $0.prefixes.contains(prefix.value) } }
}
