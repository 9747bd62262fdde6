// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import UploadToken

/// The fast path returns the same claims as `JSONDecoder`.
@Suite("Claims of certificates")
struct CertificateClaimsTests {
  private static let ours = """
    {"aud":"keys","exp":1800000900,"iat":1800000000,"iss":"verification","jti":"0b1c",\
    "nbf":1800000000,"reportType":"confirmed","symptomOnsetInterval":2999952,"tekmac":"-_v7="}
    """

  private func read(_ claims: String) -> CertificateClaims? {
    CertificateClaims.fastRead(Array(claims.utf8))
  }

  private func decoded(_ claims: [UInt8]) -> CertificateClaims? {
    try? JSONDecoder().decode(CertificateClaims.self, from: Data(claims))
  }

  @Test("Claims that our server encodes are read by the fast path in any order")
  func whole() throws {
    let members = Self.ours.dropFirst().dropLast().split(separator: ",")
    for start in members.indices {
      let turned = "{" + (members[start...] + members[..<start]).joined(separator: ",") + "}"
      #expect(read(turned) != nil)
      #expect(read(turned) == decoded(Array(turned.utf8)))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let claims = CertificateClaims(
      CertificateTests.certificate, issuer: "verification", audience: "keys")
    #expect(CertificateClaims.fastRead(Array(try encoder.encode(claims))) == claims)
  }

  @Test(
    "Optional claims may be missing", arguments: ["iat", "nbf", "jti", "symptomOnsetInterval"])
  func optional(_ name: String) {
    let less = Self.ours.replacing(/"\w+":("[^"]*"|\d+),/) { member in
      member.0.hasPrefix("\"\(name)\"") ? "" : String(member.0)
    }
    #expect(less.count < Self.ours.count)
    #expect(read(less) != nil)
    #expect(read(less) == decoded(Array(less.utf8)))
  }

  @Test(
    "Blanks, escapes, other characters and null are read as JSONDecoder reads them",
    arguments: [
      ("{", "{ "), ("}", "}\n"), (":", ": "), (",", ", "), (#""iss":"#, #""\u0069ss":"#),
      ("verification", #"verif\u0069cation"#), ("verification", "weryfikacją"),
      ("1800000900", "-1"), ("1800000900", "1234567890123456789"), (#""0b1c""#, "null"),
      (#""0b1c""#, "\"0b\u{7F}1c\""),
    ])
  func same(_ change: (part: String, other: String)) throws {
    let claims = Self.ours.replacing(change.part, with: change.other)
    #expect(claims != Self.ours)
    #expect(read(claims) != nil)
    #expect(read(claims) == decoded(Array(claims.utf8)))
  }

  @Test(
    "Claims in another form are left to JSONDecoder",
    arguments: [
      (#""keys""#, #"["keys"]"#), ("1800000900", "1800000900.0"), ("1800000900", "18e8"),
      ("1800000900", "00"), ("1800000900", "99999999999999999999"),
      ("1800000900", #""1800000900""#), (#""0b1c""#, "7"), (#""iss":"#, #""ISS":"#),
      ("2999952", "4294967296"), (#""jti":"#, #""sub":"#), (#""jti":"0b1c""#, #""iss":"b""#),
      (#""exp":1800000900,"#, ""), ("}", ",}"), ("}", "}}"), ("}", ""), ("tekmac", "trisk"),
      (#""0b1c""#, #""0b1c"#), (#""0b1c""#, "\"0b\t1c\""),
    ])
  func other(_ change: (part: String, other: String)) throws {
    let claims = Self.ours.replacing(change.part, with: change.other)
    #expect(claims != Self.ours)
    #expect(read(claims) == nil)
  }

  @Test("A number must fit in 64 bits, and an interval in 32 bits")
  func limits() {
    for (number, isRead) in [
      ("9223372036854775806", true), ("9223372036854775807", true), ("9223372036854775808", false),
    ] {
      let claims = Self.ours.replacing("1800000900", with: number)
      #expect((read(claims) != nil) == isRead)
      #expect(read(claims) == decoded(Array(claims.utf8)))
    }
    let largest = Self.ours.replacing("2999952", with: "4294967295")
    #expect(read(largest)?.symptomOnsetInterval == .max)
  }

  @Test("Randomly changed claims are read as JSONDecoder reads them, or left to it")
  func mutated() {
    var random = SeededGenerator(seed: 20_261_122)
    let pieces = [
      "\"", "\\", "{", "}", "[", "]", ":", ",", "0", "9", "-", ".", "e", " ", "\n", "null", "true",
      "\u{0}", "\u{7F}", "\u{E9}", "\u{FEFF}", #"\u0041"#, #""iss":"x","#, #""exp":1,"#,
      #""new":1,"#, "99999999999999999999",
    ].map { Array($0.utf8) }
    var read = 0
    for _ in 0..<20_000 {
      var claims = Array(Self.ours.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<claims.count, using: &random)
        let end = min(claims.count, place + Int.random(in: 0...2, using: &random))
        let piece = pieces.randomElement(using: &random) ?? []
        claims.replaceSubrange(place..<end, with: Bool.random(using: &random) ? piece : [])
      }
      guard let plain = CertificateClaims.fastRead(claims) else { continue }
      read += 1
      #expect(plain == decoded(claims), "\(String(decoding: claims, as: UTF8.self))")
    }
    // Some are read, so that something is compared; some are not, so that something was changed.
    #expect((500..<15_000).contains(read))
  }
}
