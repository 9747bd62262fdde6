import Foundation
import Testing

@testable import UploadToken

@Suite("Base64 in tokens and keys")
struct Base64DigitsTests {
  private func bytes(_ text: String, _ digits: Base64Digits = .ofURLs) -> [UInt8]? {
    Array(text.utf8).withUnsafeBufferPointer(digits.bytes)
  }

  @Test("Every number of bytes comes back, as Foundation wrote them", arguments: 0...5)
  func roundTrip(_ count: Int) {
    for first in UInt8.min...UInt8.max {
      let sent = (0..<count).map { UInt8(truncatingIfNeeded: Int(first) &+ $0 * 77) }
      let standard = Data(sent).base64EncodedString().filter { $0 != "=" }
      #expect(bytes(standard, .ofEither) == sent)
      #expect(bytes(Base64URL.text(Data(sent))) == sent)
      #expect(Base64URL.bytes(Base64URL.text(Data(sent))[...].utf8) == sent)
    }
  }

  @Test(
    "No second text says the same bytes",
    arguments: ["A", "AAAAA", "QR", "QUJ", "AA==", "A A", "AA\n", "AA\u{E9}", "AA\0A"])
  func refused(_ text: String) {
    #expect(bytes(text) == nil)
    #expect(bytes(text, .ofEither) == nil)
  }

  @Test("The alphabet of URLs has no digit of the other")
  func alphabets() {
    #expect(bytes("+/+/") == nil)
    #expect(bytes("-_-_") == [0xFB, 0xFF, 0xBF])
    #expect(bytes("+_-/", .ofEither) == [0xFB, 0xFF, 0xBF])
  }

  @Test("Bytes are written where there is room for just as many", arguments: 0...5)
  func room(_ count: Int) {
    let sent = (0..<count).map { UInt8($0 * 50) }
    let digits = Array(Base64URL.text(Data(sent)).utf8)
    for room in 0...7 {
      var bytes = [UInt8](repeating: 0, count: room)
      let isRead = digits.withUnsafeBufferPointer { digits in
        bytes.withUnsafeMutableBytes { Base64Digits.ofURLs.read(digits, into: $0) }
      }
      #expect(isRead == (room == count))
      #expect(!isRead || bytes == sent)
    }
  }
}
