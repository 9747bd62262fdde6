// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing

/// A QR code that another program has made.
struct QRSymbol: CustomTestStringConvertible, Sendable {
  /// The code's version and level, such as `6-H`.
  let name: String
  let text: String
  /// One string for each row: `#` is a dark module.
  let rows: [String]

  var testDescription: String { "\(name) \(text)" }

  /// The light border around a code, in modules.
  private static let border = 4

  private static let folder = SharedData.projectRoot.appendingPathComponent(
    "Tests/WebAppTests/QRCodes")

  /// All codes of the file, which says what made them.
  static let all: [QRSymbol] = {
    let file = folder.appendingPathComponent("symbols.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "\n\n").dropFirst().compactMap(QRSymbol.init)
  }()

  static func named(_ name: String) -> QRSymbol? { all.first { $0.name == name } }

  /// A title and the rows.
  private init?(_ block: String) {
    var lines = block.split(separator: "\n").map(String.init)
    guard !lines.isEmpty else { return nil }
    let title = lines.removeFirst().split(separator: " ", maxSplits: 4).map(String.init)
    guard title.count == 5, lines.allSatisfy({ $0.count == lines.count }) else { return nil }
    name = "\(title[1])-\(title[2])"
    text = title[4]
    rows = lines
  }

  /// The functions that draw codes in a page, as a text to which a test adds statements.
  static func drawing() throws -> String {
    try String(contentsOf: folder.appendingPathComponent("draw.js"), encoding: .utf8)
  }

  /// The brightness of each pixel of a picture with the code in its middle.
  func pixels(width: Int, height: Int, module: Int) -> [UInt8] {
    let whole = (rows.count + 2 * Self.border) * module
    let matrix = rows.map { Array($0.utf8) }
    return (0..<height).flatMap { y in
      (0..<width).map { x in
        let (right, down) = (x - (width - whole) / 2, y - (height - whole) / 2)
        guard (0..<whole).contains(right), (0..<whole).contains(down) else { return 0x80 }
        let (row, column) = (down / module - Self.border, right / module - Self.border)
        guard rows.indices.contains(row), rows.indices.contains(column) else { return 0xE0 }
        return matrix[row][column] == UInt8(ascii: "#") ? 0x20 : 0xE0
      }
    }
  }

  /// A video of one frame in the format YUV4MPEG2.
  func video(width: Int = 640, height: Int = 480) -> Data {
    var data = Data("YUV4MPEG2 W\(width) H\(height) F10:1 Ip A1:1 C420jpeg\nFRAME\n".utf8)
    data.append(contentsOf: pixels(width: width, height: height, module: 6))
    // Without colors: two planes of a quarter of the size.
    data.append(Data(repeating: 0x80, count: width * height / 2))
    return data
  }

  /// A picture in the format BMP, with one byte for each pixel. The width is a multiple of four.
  func picture(width: Int = 640, height: Int = 480) -> Data {
    let paletteEnd = 54 + 4 * 256
    var data = Data("BM".utf8)
    func append(_ value: Int, bytes: Int) {
      for index in 0..<bytes { data.append(UInt8((value >> (8 * index)) & 0xFF)) }
    }
    for value in [paletteEnd + width * height, 0, paletteEnd, 40, width] { append(value, bytes: 4) }
    // Rows from top to bottom.
    append(-height, bytes: 4)
    append(1, bytes: 2)
    append(8, bytes: 2)
    for value in [0, width * height, 2_835, 2_835, 256, 0] { append(value, bytes: 4) }
    for grey in 0..<256 { append(grey * 0x01_01_01, bytes: 4) }
    data.append(contentsOf: pixels(width: width, height: height, module: 6))
    return data
  }
}
