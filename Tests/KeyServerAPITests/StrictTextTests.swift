import Foundation
import KeyServerAPI
import Testing

/// Strings in a body of `/v1/publish`: what they mean, and which are none.
@Suite("Strings that are read strictly")
struct StrictTextTests {
  private func app(_ text: some Sequence<UInt8>) throws -> String {
    let body = Data(#"{"healthAuthorityID":""#.utf8) + Data(text) + Data(#""}"#.utf8)
    return try PublishRequest(strictJSON: body).healthAuthorityID
  }

  @Test(
    "A string of one byte, and one in the midst of others, is what Foundation reads, or malformed")
  func bytes() throws {
    for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
      for text in [[byte], Array("ab".utf8) + [byte] + Array("cd".utf8)] {
        let json = Data("[\"".utf8) + Data(text) + Data("\"]".utf8)
        let wanted = try? JSONDecoder().decode([String].self, from: json)
        #expect((try? app(text)) == wanted?[0], "\(byte)")
      }
    }
  }

  @Test("An escape means what Foundation reads, or is malformed")
  func escapes() throws {
    let longer = ["u0041", "u00e9", "u20AC", "uD83D\\uDE00", "uD83D", "uDE00", "u12", "u12G4"]
    let short = (UInt8(0x20)..<0x7F).map { String(UnicodeScalar($0)) }
    for escape in longer + short where escape != "u" {
      for text in ["\\\(escape)", "a\\\(escape)b", "\u{E9}\\\(escape)"] {
        let wanted = try? JSONDecoder().decode([String].self, from: Data("[\"\(text)\"]".utf8))
        #expect((try? app(text.utf8)) == wanted?[0], "\(text)")
      }
    }
  }

  @Test("A string that is not UTF-8, or has no end, is malformed")
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
}
