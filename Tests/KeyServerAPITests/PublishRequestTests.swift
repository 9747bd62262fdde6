// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import StrictJSON
import Testing

@testable import KeyServerAPI

@Suite("Strings and keys of publish requests")
struct PublishRequestTests {
  private func app(_ text: some Sequence<UInt8>) throws -> String {
    let body = Data(#"{"healthAuthorityID":""#.utf8) + Data(text) + Data(#""}"#.utf8)
    return try PublishRequest(strictJSON: body).healthAuthorityID
  }

  @Test(
    "A string with any byte, alone or among others, is read as Foundation reads it or malformed")
  func bytes() throws {
    for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
      for text in [[byte], Array("ab".utf8) + [byte] + Array("cd".utf8)] {
        let json = Data("[\"".utf8) + Data(text) + Data("\"]".utf8)
        let expected = try? JSONDecoder().decode([String].self, from: json)
        #expect((try? app(text)) == expected?[0], "\(byte)")
      }
    }
  }

  @Test("An escape is read as Foundation reads it or malformed")
  func escapes() throws {
    let longer = ["u0041", "u00e9", "u20AC", "uD83D\\uDE00", "uD83D", "uDE00", "u12", "u12G4"]
    let short = (UInt8(0x20)..<0x7F).map { String(UnicodeScalar($0)) }
    for escape in longer + short where escape != "u" {
      for text in ["\\\(escape)", "a\\\(escape)b", "\u{E9}\\\(escape)"] {
        let expected = try? JSONDecoder().decode([String].self, from: Data("[\"\(text)\"]".utf8))
        #expect((try? app(text.utf8)) == expected?[0], "\(text)")
      }
    }
  }

  @Test("A string that is not UTF-8 or not terminated is malformed")
  func broken() {
    let texts: [[UInt8]] = [[0xC3], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]]
    for text in texts {
      #expect(throws: StrictJSONError.malformed) { try app(text) }
      #expect(throws: StrictJSONError.malformed) { try app(text + Array("\\n".utf8)) }
    }
    #expect(throws: StrictJSONError.malformed) {
      try PublishRequest(strictJSON: Data(#"{"healthAuthorityID":"a"#.utf8))
    }
  }

  private func bytes(_ text: String) -> [UInt8]? {
    UploadedKey(PublishKey(key: text, rollingStartNumber: 0)).bytes.map { key in
      withUnsafeBytes(of: key.words) { Array($0) }
    }
  }

  @Test("A key of 16 bytes is decoded from either base64 alphabet, padded or not")
  func key() {
    for first in UInt8.min...UInt8.max {
      let sent = (0..<16).map { first &+ UInt8($0 * 17) }
      let standard = Data(sent).base64EncodedString()
      let url = standard.replacing("+", with: "-").replacing("/", with: "_")
      for text in [standard, url, standard.replacing("=", with: ""), url.replacing("=", with: "")] {
        #expect(bytes(text) == sent)
      }
    }
  }

  @Test("A key of another size has no bytes", arguments: [0, 1, 14, 15, 17, 18, 32])
  func otherSizes(count: Int) {
    #expect(bytes(Data(repeating: 0xA5, count: count).base64EncodedString()) == nil)
  }

  @Test(
    "A key that is not base64 has no bytes",
    arguments: [
      "AAAAAAAAAAAAAAAAAAAAAB==", "AAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA===",
      "AAAAAAAAAAAAAAAAAAAAA=A=", " AAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAA\u{E9}==",
      "====",
    ])
  func noBase64(text: String) {
    #expect(bytes(text) == nil)
  }
}
