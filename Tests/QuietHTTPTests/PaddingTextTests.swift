import Foundation
import NIOCore
import Testing

@testable import QuietHTTP

@Suite("Padding as text")
struct PaddingTextTests {
  @Test("Padding is the base64 that Foundation writes", arguments: [0, 1, 2, 16, 768])
  func base64(groups: Int) {
    for shift in 0...UInt8.max {
      let bytes = (0..<groups * 3).map { UInt8(truncatingIfNeeded: $0 &* 89) &+ shift }
      var buffer = ByteBuffer(string: "before")
      PaddingText.write(bytes, to: &buffer)
      #expect(String(buffer: buffer) == "before" + Data(bytes).base64EncodedString())
    }
  }
}
