import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

/// The answer of nearly every upload is put together by hand; what comes out is what an encoder writes.
@Suite("Publish: the text of an answer")
struct PublishAnswerTests {
  private func encoded(_ answer: PublishAnswer) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(answer)
  }

  /// Revision tokens of every length up to a few rows of base64, with every letter that base64 has.
  private func tokens() -> [String] {
    var chance = SeededGenerator(seed: 5)
    let lengths = Array(0...48) + [511, 512, 513, 2_000]
    let random = lengths.map { length in
      Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &chance) })
    }
    let allLetters = Data(
      base64Encoded: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    return (random + [allLetters ?? Data(), Data(repeating: 0xFF, count: 64)])
      .map { $0.base64EncodedString() }
  }

  @Test("An upload that was taken whole is told what an encoder would write, whatever the token")
  func wholeSuccess() throws {
    for token in tokens() {
      for count in [0, 1, 9, 10, 14, 30, Int.max] {
        let answer = PublishAnswer(revisionToken: token, insertedExposures: count)
        let text = try answer.json
        #expect(text == (try encoded(answer)))
        #expect(try JSONDecoder().decode(PublishAnswer.self, from: text) == answer)
      }
    }
  }

  @Test("Its fields have the names of the wire")
  func names() throws {
    let answer = PublishAnswer(revisionToken: "aGk/+A==", insertedExposures: 14)
    let text = String(decoding: try answer.json, as: UTF8.self)
    #expect(text == #"{"insertedExposures":14,"revisionToken":"aGk/+A=="}"#)
  }

  @Test("Whatever else there is to say is said, texts with quotes and line feeds too")
  func everythingElse() throws {
    let said = "A \"key\"\n\\ was dropped: żółć / \u{2028}"
    for mask in 0..<32 {
      func there<Value>(_ bit: Int, _ value: Value) -> Value? {
        mask & (1 << bit) == 0 ? nil : value
      }
      let answer = PublishAnswer(
        revisionToken: there(0, "aGk/+A=="), insertedExposures: there(1, 3), error: there(2, said),
        code: there(3, .partialFailure), warnings: there(4, [said, ""]))
      let text = try answer.json
      #expect(text == (try encoded(answer)), "\(mask)")
      #expect(try JSONDecoder().decode(PublishAnswer.self, from: text) == answer, "\(mask)")
    }
  }
}
