// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import Secrets
import Testing
import VerificationAPI

@testable import ExposureApp

@Suite("Codes as people type them")
struct TypedCodeTests {
  @Test(
    "Spaces, hyphens of any kind and small letters do not matter",
    arguments: [
      ("A1B2C3", "A1B2C3"), ("a1b 2c3", "A1B2C3"), ("A1B-2C3", "A1B2C3"),
      ("a1b\u{2013}2c3", "A1B2C3"),
      ("A1B\u{2011}2C3", "A1B2C3"), ("A1B\u{A0}2C3", "A1B2C3"), ("O1I-0AB", "O1I0AB"),
      ("1234-5678", "12345678"), ("1234 5678", "12345678"), ("123 456 78", "12345678"),
      ("I234-567O", "12345670"), ("o1i000", "011000"), ("1234567\u{41E}", "12345670"),
      ("\u{410}\u{412}1 2\u{421}3", "AB12C3"), ("\u{430}\u{432}1-2\u{441}3", "AB12C3"),
      ("\u{445}\u{443}\u{442}9\u{456}\u{43E}", "XYT9IO"),
      ("123456", "123456"), ("12345678901", "12345678901"),
    ])
  func accepted(typed: String, code: String) throws {
    let pin = try #require(PIN(ZeroingBytes(copying: typed.utf8)))
    #expect(pin.bytes.withUnsafeBytes { Array($0) } == Array(code.utf8))
  }

  @Test(
    "Other lengths and characters are refused, and the error names the lengths that are accepted",
    arguments: [
      "", "A1B2C", "A1B2C3D4E5F", "ABCDEF", "12345", "123456789012", "1234567_", "\u{416}12345",
    ])
  func refused(typed: String) {
    #expect(PIN(ZeroingBytes(copying: typed.utf8)) == nil)
    let text = UploadFailure.invalidPIN.description
    #expect(VerificationCode.characterCounts == 6...10 && text.contains("six to ten letters"))
    #expect(ShortCode.digitCounts == 6...11 && text.contains("six to eleven digits"))
  }

  @Test("Every Cyrillic letter that looks like a Latin one is read as that, in either case")
  func cyrillic() throws {
    let letters = [
      "\u{410}\u{412}\u{415}\u{406}\u{41A}", "\u{41C}\u{41D}\u{41E}\u{420}",
      "\u{421}\u{422}\u{423}\u{425}",
    ]
    for (cyrillic, latin) in zip(letters, ["ABEIK", "MHOP", "CTYX"]) {
      for text in [cyrillic, cyrillic.lowercased()] {
        let pin = try #require(PIN(ZeroingBytes(copying: "29\(text)".utf8)))
        #expect(pin.bytes.withUnsafeBytes { Array($0) } == Array("29\(latin)".utf8))
      }
    }
  }

  @Test("A doctor's code of eight digits is exchanged like a PIN, twice if the first attempt fails")
  func shortCode() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    phone.network.script(
      TestApp.tokenPath, .fails(.unreachable), .text(UploadTests.token))
    #expect(
      await app.upload(pin: "1234-5678", isInteroperabilityEnabled: false).reason == .noInternet)
    #expect(await app.upload(pin: "12345678", isInteroperabilityEnabled: false) == .success)
    let codes = try phone.network.requests(for: TestApp.tokenPath).map {
      try JSONDecoder().decode(
        CallableRequest<AccessTokenRequest>.self, from: $0.body ?? Data()
      ).data.code
    }
    #expect(codes == ["12345678", "12345678"])
  }
}
