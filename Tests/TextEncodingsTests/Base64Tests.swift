// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import TextEncodings

@Suite("Base64")
struct Base64Tests {
  private func bytes(_ text: String, _ digits: Base64 = .url) -> [UInt8]? {
    Array(text.utf8).withUnsafeBufferPointer(digits.bytes)
  }

  @Test("Bytes encoded by Foundation are decoded, for every length", arguments: 0...5)
  func roundTrip(_ count: Int) {
    for first in UInt8.min...UInt8.max {
      let sent = (0..<count).map { UInt8(truncatingIfNeeded: Int(first) &+ $0 * 77) }
      let standard = Data(sent).base64EncodedString().filter { $0 != "=" }
      #expect(bytes(standard, .either) == sent)
      #expect(bytes(Data(sent).base64URL) == sent)
      #expect(Base64.urlBytes(Data(sent).base64URL[...].utf8) == sent)
    }
  }

  @Test(
    "The vectors of RFC 4648 are encoded without padding and decoded",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
      ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
  func vectors(_ text: String, _ encoded: String) {
    #expect(Data(text.utf8).base64URL == encoded)
    #expect(Data(base64URL: encoded) == Data(text.utf8))
    #expect(Data(base64URL: "x\(encoded)".dropFirst()) == Data(text.utf8))
  }

  @Test(
    "Padding, the standard alphabet, an unused bit and other characters are no base64url",
    arguments: ["Zg==", "Zm8=", "Zh", "Zm9", "+/+/", "Zm9v\n", " Zm9v", "Z", "Zm9vY", "Zm\u{E9}"])
  func invalidURL(_ text: String) {
    #expect(Data(base64URL: text) == nil)
  }

  @Test(
    "A second text for the same bytes is rejected",
    arguments: ["A", "AAAAA", "QR", "QUJ", "AA==", "A A", "AA\n", "AA\u{E9}", "AA\0A"])
  func refused(_ text: String) {
    #expect(bytes(text) == nil)
    #expect(bytes(text, .either) == nil)
  }

  @Test("The URL alphabet has no digit of the standard alphabet")
  func alphabets() {
    #expect(bytes("+/+/") == nil)
    #expect(bytes("-_-_") == [0xFB, 0xFF, 0xBF])
    #expect(bytes("+_-/", .either) == [0xFB, 0xFF, 0xBF])
  }

  @Test("Bytes are decoded only into a buffer of exactly their size", arguments: 0...5)
  func room(_ count: Int) {
    let sent = (0..<count).map { UInt8($0 * 50) }
    let digits = Array(Data(sent).base64URL.utf8)
    for room in 0...7 {
      var bytes = [UInt8](repeating: 0, count: room)
      let isRead = digits.withUnsafeBufferPointer { digits in
        bytes.withUnsafeMutableBytes { Base64.url.read(digits, into: $0) }
      }
      #expect(isRead == (room == count))
      #expect(!isRead || bytes == sent)
    }
  }

  @Test("Text in either alphabet, padded or not, is decoded")
  func padded() {
    for first in UInt8.min...UInt8.max {
      let sent = (0..<16).map { first &+ UInt8($0 * 17) }
      let standard = Data(sent).base64EncodedString()
      let url = standard.replacing("+", with: "-").replacing("/", with: "_")
      for text in [standard, url, standard.replacing("=", with: ""), url.replacing("=", with: "")] {
        #expect(Base64.bytes(text) == sent)
        var words: (UInt64, UInt64) = (0, 0)
        #expect(withUnsafeMutableBytes(of: &words) { Base64.read(text, into: $0) })
        #expect(withUnsafeBytes(of: words) { Array($0) } == sent)
      }
    }
  }

  @Test(
    "Text of another size is decoded, but not into 16 bytes", arguments: [0, 1, 14, 15, 17, 18, 32])
  func otherSizes(count: Int) {
    let text = Data(repeating: 0xA5, count: count).base64EncodedString()
    #expect(Base64.bytes(text)?.count == count)
    var words: (UInt64, UInt64) = (0, 0)
    #expect(!withUnsafeMutableBytes(of: &words) { Base64.read(text, into: $0) })
  }

  @Test(
    "Text with invalid padding or an invalid character is rejected",
    arguments: [
      "AAAAAAAAAAAAAAAAAAAAAB==", "AAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA===",
      "AAAAAAAAAAAAAAAAAAAAA=A=", " AAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAA\u{E9}==",
      "====",
    ])
  func invalidPadding(text: String) {
    #expect(Base64.bytes(text) == nil)
    var words: (UInt64, UInt64) = (0, 0)
    #expect(!withUnsafeMutableBytes(of: &words) { Base64.read(text, into: $0) })
  }
}
