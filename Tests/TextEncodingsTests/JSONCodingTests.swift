// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TextEncodings

@Suite("JSON coding")
struct JSONCodingTests {
  @Test("JSON of the type is decoded; all other data gives nil")
  func decoding() {
    let decoder = JSONDecoder()
    #expect(decoder.decodeIfValid([Int].self, from: Data("[1,2]".utf8)) == [1, 2])
    for text in ["", "[1,2", #"["a"]"#, "{}", "[1.5]"] {
      #expect(decoder.decodeIfValid([Int].self, from: Data(text.utf8)) == nil)
    }
  }

  @Test("A value is encoded with the settings of the encoder; an infinite number gives nil")
  func encoding() {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(encoder.encodeIfPossible(["b": 1, "a": 2]) == Data(#"{"a":2,"b":1}"#.utf8))
    #expect(encoder.encodeIfPossible([Double.infinity]) == nil)
  }

  @Test("A field of several types is decoded by the first that matches")
  func matching() throws {
    struct Text: Decodable, Equatable {
      let text: String

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = container.decodeIfMatching(Int.self) {
          text = "\(number)"
        } else {
          text = try container.decode(String.self)
        }
      }
    }
    let texts = try JSONDecoder().decode([Text].self, from: Data(#"[1,"a"]"#.utf8))
    #expect(texts.map(\.text) == ["1", "a"])
    #expect(JSONDecoder().decodeIfValid([Text].self, from: Data("[true]".utf8)) == nil)
  }
}
