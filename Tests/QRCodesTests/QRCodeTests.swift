// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import QRCodes

/// QR codes, compared with those of another program.
@Suite("QR codes") struct QRCodeTests {
  /// The code under a title in Tests/WebAppTests/QRCodes/symbols.txt.
  private static func symbol(_ title: String) throws -> [String] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("WebAppTests/QRCodes/symbols.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: title))
    return Array(lines[(start + 1)...].prefix { !$0.isEmpty })
  }

  @Test("A code of version 7 equals that of the package qrcode")
  func version7() throws {
    let text = "http://127.0.0.1:8080/#/share?pin=AB12CD"
    let code = try #require(QRCode(text, version: 7, mask: 7))
    let rows = code.modules.map { String($0.map { $0 ? "#" : "." }) }
    #expect(try rows == Self.symbol("qrcode 7 M 7 \(text)"))
  }

  @Test("The error correction is that of the standard's example")
  func reedSolomon() {
    // ISO/IEC 18004, annex I: "01234567" as version 1-M.
    let data: [UInt8] = [
      0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC,
      0x11,
    ]
    #expect(
      ReedSolomon.remainder(data, count: 10)
        == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
  }

  @Test("The smallest version is used, and 180 bytes are the limit")
  func sizes() {
    #expect(QRCode("AB12CD")?.size == 21)
    #expect(QRCode(String(repeating: "a", count: 14))?.size == 21)
    #expect(QRCode(String(repeating: "a", count: 15))?.size == 25)
    #expect(QRCode.bytesMax == 180)
    #expect(QRCode(String(repeating: "a", count: 180))?.size == 53)
    #expect(QRCode(String(repeating: "a", count: 181)) == nil)
  }

  @Test("The path has every dark module once, moved by the border")
  func path() throws {
    let code = try #require(QRCode("A"))
    let runs = code.svgPath().matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/)
    var modules = code.modules.map { $0.map { _ in false } }
    for run in runs {
      let (x, y) = (try #require(Int(run.1)), try #require(Int(run.2)))
      let length = try #require(Int(run.3))
      #expect(run.3 == run.4)
      for column in x..<x + length {
        #expect(!modules[y - 4][column - 4])
        modules[y - 4][column - 4] = true
      }
    }
    #expect(modules == code.modules)
  }
}
