import ExposureKeys
import Foundation
import Testing

@testable import KeyServerAPI

@Suite("Base64 of keys as senders write it")
struct Base64TextTests {
  @Test("A key is sixteen bytes, in either alphabet, padded or not")
  func key() throws {
    for first in UInt8.min...UInt8.max {
      let bytes = (0..<16).map { first &+ UInt8($0 * 17) }
      let standard = Data(bytes).base64EncodedString()
      let url = standard.replacing("+", with: "-").replacing("/", with: "_")
      for text in [standard, url, standard.replacing("=", with: ""), url.replacing("=", with: "")] {
        #expect(Base64Text.bytes(text) == bytes)
        let words = try #require(Base64Text.sixteenBytes(text)?.words)
        #expect(withUnsafeBytes(of: words) { Array($0) } == bytes)
      }
    }
  }

  @Test("Fewer or more bytes are no key", arguments: [0, 1, 14, 15, 17, 18, 32])
  func otherSizes(count: Int) {
    let text = Data(repeating: 0xA5, count: count).base64EncodedString()
    #expect(Base64Text.bytes(text)?.count == count)
    #expect(Base64Text.sixteenBytes(text) == nil)
  }

  @Test(
    "What is no base64 is no key",
    arguments: [
      "AAAAAAAAAAAAAAAAAAAAAB==", "AAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA===",
      "AAAAAAAAAAAAAAAAAAAAA=A=", " AAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAA\u{E9}==",
      "====",
    ])
  func noBase64(text: String) {
    #expect(Base64Text.bytes(text) == nil)
    #expect(Base64Text.sixteenBytes(text) == nil)
  }
}
