// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@Suite("The HMAC over keys")
struct KeyHMACTests {
  private struct Vectors: Decodable {
    struct Vector: Decodable {
      var secretBase64: String
      var keys: [UploadKey]
      var cleartext: String
      var hmacSha256Base64: String
    }
    var vectors: [Vector]
  }

  private let secret = Data((1...16).map { UInt8($0) })
  private let keys = [
    UploadKey(
      key: "z2Cx9hdz2SlxZ8GEgqTYpA==", rollingPeriod: 144, rollingStartNumber: 1,
      transmissionRisk: 3),
    UploadKey(
      key: "dPCphLzfG4uzXneNimkPRQ==", rollingPeriod: 144, rollingStartNumber: 144,
      transmissionRisk: 5),
  ]

  @Test(
    "The published vectors match, input and HMAC",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)))
  func publishedVector() throws {
    let json = try Data(contentsOf: SharedData.url("vectors/hmac/tek-hmac.json"))
    let vectors = try JSONDecoder().decode(Vectors.self, from: json).vectors
    #expect(!vectors.isEmpty)
    for vector in vectors {
      let secret = try #require(Data(base64Encoded: vector.secretBase64))
      let code = KeyHMAC.authenticationCode(over: vector.keys, secret: secret)
      #expect(KeyHMAC.text(over: vector.keys) == vector.cleartext)
      #expect(code.base64EncodedString() == vector.hmacSha256Base64)
      #expect(KeyHMAC.isValid(code, over: vector.keys, secret: secret))
    }
  }

  @Test(
    "Numbers of any size are written in decimal",
    arguments: [Int32.min, -144, -1, 0, 9, 10, 144, .max], [nil, Int.min, -10, 0, 8, 100, .max])
  func numbers(number: Int32, risk: Int?) {
    let key = UploadedKey(
      PublishKey(
        key: "AA==", rollingStartNumber: number, rollingPeriod: number, transmissionRisk: risk))
    var text: [UInt8] = []
    key.append(to: &text, risk: risk)
    let expected = "AA==.\(number).\(number)" + (risk.map { ".\($0)" } ?? "")
    #expect(String(decoding: text, as: UTF8.self) == expected)
  }

  @Test("The order of the keys does not change the HMAC")
  func orderDoesNotMatter() {
    #expect(KeyHMAC.text(over: keys) == KeyHMAC.text(over: keys.reversed()))
  }

  @Test("Keys with the same text keep their order")
  func strictOrder() {
    // A comparison that returns true for equal keys is no strict order and reverses them.
    for count in [2, 3, 20, 100] {
      let alike = (0..<count).map {
        UploadKey(key: "BB==", rollingPeriod: 144, rollingStartNumber: UInt32($0))
      }
      let others = ["AA==", "CC=="].map {
        UploadKey(key: $0, rollingPeriod: 144, rollingStartNumber: 7)
      }
      for keys in [alike, alike.reversed()] {
        let texts = keys.map { "\($0.key).\($0.rollingStartNumber).144" }.joined(separator: ",")
        #expect(KeyHMAC.text(over: keys) == texts)
        let mixed = [others[1]] + keys + [others[0]]
        #expect(KeyHMAC.text(over: mixed) == "AA==.7.144,\(texts),CC==.7.144")
      }
    }
  }

  @Test("An absent risk level and level 0 give different inputs")
  func absentIsNotZero() {
    let absent = [UploadKey(key: "AA==", rollingPeriod: 144, rollingStartNumber: 7)]
    let zero = [
      UploadKey(key: "AA==", rollingPeriod: 144, rollingStartNumber: 7, transmissionRisk: 0)
    ]
    #expect(KeyHMAC.text(over: absent) == "AA==.7.144")
    #expect(KeyHMAC.text(over: zero) == "AA==.7.144.0")
  }

  @Test("If all risk levels are 0 or absent, the HMAC of either input is accepted")
  func eitherTextForZero() {
    let absent = keys.map { key in
      UploadKey(
        key: key.key, rollingPeriod: key.rollingPeriod, rollingStartNumber: key.rollingStartNumber)
    }
    let zero = absent.map { key in
      var key = key
      key.transmissionRisk = 0
      return key
    }
    for (signed, sent) in [(absent, zero), (zero, absent), (zero, zero), (absent, absent)] {
      let code = KeyHMAC.authenticationCode(over: signed, secret: secret)
      #expect(KeyHMAC.isValid(code, over: sent, secret: secret))
    }
  }

  @Test("An HMAC without a nonzero risk level is rejected")
  func riskIsBound() {
    let without = keys.map { key in
      UploadKey(
        key: key.key, rollingPeriod: key.rollingPeriod, rollingStartNumber: key.rollingStartNumber)
    }
    let code = KeyHMAC.authenticationCode(over: without, secret: secret)
    #expect(!KeyHMAC.isValid(code, over: keys, secret: secret))
  }

  @Test("An HMAC of other keys, of another secret, truncated or changed is rejected")
  func everythingIsBound() {
    let code = KeyHMAC.authenticationCode(over: keys, secret: secret)
    var changed = code
    changed[0] ^= 1
    #expect(!KeyHMAC.isValid(code, over: Array(keys.dropLast()), secret: secret))
    #expect(!KeyHMAC.isValid(code, over: keys, secret: secret + [0x42]))
    #expect(!KeyHMAC.isValid(code.dropLast(), over: keys, secret: secret))
    #expect(!KeyHMAC.isValid(changed, over: keys, secret: secret))
  }
}
