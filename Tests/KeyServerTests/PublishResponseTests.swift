// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

/// The usual response is formatted without an encoder.
@Suite("JSON of publish responses")
struct PublishResponseTests {
  private func encoded(_ response: PublishResponse) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(response)
  }

  /// Revision tokens of many lengths, with every letter of base64.
  private func tokens() -> [String] {
    var generator = SeededGenerator(seed: 5)
    let lengths = Array(0...48) + [511, 512, 513, 2_000]
    let random = lengths.map { length in
      Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    let allLetters = Data(
      base64Encoded: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    return (random + [allLetters ?? Data(), Data(repeating: 0xFF, count: 64)])
      .map { $0.base64EncodedString() }
  }

  @Test("The usual response is what an encoder would write, for every token")
  func wholeSuccess() throws {
    for token in tokens() {
      for count in [0, 1, 9, 10, 14, 30, Int.max] {
        let response = PublishResponse(revisionToken: token, insertedExposures: count)
        let text = try response.json
        #expect(text == (try encoded(response)))
        #expect(try JSONDecoder().decode(PublishResponse.self, from: text) == response)
      }
    }
  }

  @Test("The field names are those of the contract")
  func names() throws {
    let response = PublishResponse(revisionToken: "aGk/+A==", insertedExposures: 14)
    let text = String(decoding: try response.json, as: UTF8.self)
    #expect(text == #"{"insertedExposures":14,"revisionToken":"aGk/+A=="}"#)
  }

  @Test("Responses with errors and warnings are what an encoder would write, with all escapes")
  func everythingElse() throws {
    let message = "A \"key\"\n\\ was dropped: żółć / \u{2028}"
    for mask in 0..<32 {
      func optional<Value>(_ bit: Int, _ value: Value) -> Value? {
        mask & (1 << bit) == 0 ? nil : value
      }
      let response = PublishResponse(
        revisionToken: optional(0, "aGk/+A=="), insertedExposures: optional(1, 3),
        error: optional(2, message),
        code: optional(3, .partialFailure), warnings: optional(4, [message, ""]))
      let text = try response.json
      #expect(text == (try encoded(response)), "\(mask)")
      #expect(try JSONDecoder().decode(PublishResponse.self, from: text) == response, "\(mask)")
    }
  }
}
