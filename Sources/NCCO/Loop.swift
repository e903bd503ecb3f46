// SPDX-License-Identifier: MIT
//
// How often something is said or played; `talk` and `stream` take it.

/// Times that a text is spoken or a file is played, 0 for ever. The reference has no upper bound; this one is that of 32 bits.
///
/// - Source: Vonage Voice API, NCCO reference, `talk` and `stream`, option `loop`.
public typealias Loop = Whole<0, 2_147_483_647>

extension Whole where minimum == 0, maximum == 2_147_483_647 {
    /// Until the call ends or something cuts in.
    public static var forever: Self { 0 }
}
