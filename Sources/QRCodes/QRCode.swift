// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A QR code (ISO/IEC 18004) with error correction level M and one segment of bytes, versions 1 to 9.
package struct QRCode: Hashable, Sendable {
  /// The modules by row; true is dark.
  package let modules: [[Bool]]

  /// The number of modules of a side.
  package var size: Int { modules.count }

  /// The longest text, in bytes.
  package static let bytesMax = capacity(of: Version.all[Version.all.count - 1])

  /// The code of `text`, or nil if it is too long.
  ///
  /// - Parameters:
  ///   - version: The version; nil for the smallest one that fits.
  ///   - mask: The mask, 0 to 7; nil for the one that is read most easily.
  package init?(_ text: String, version number: Int? = nil, mask: Int? = nil) {
    let bytes = Array(text.utf8)
    let versions = Version.all.filter {
      Self.capacity(of: $0) >= bytes.count && $0.number == number ?? $0.number
    }
    guard let version = versions.first else { return nil }
    let codewords = Self.codewords(bytes, version)
    let masks = mask.map { [$0] } ?? Array(0...7)
    let candidates = masks.map { mask in
      var matrix = QRMatrix(version)
      matrix.place(codewords)
      matrix.apply(mask: mask)
      return matrix
    }
    guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return nil }
    modules = best.modules
  }

  /// The sizes of a version at level M.
  struct Version: Hashable, Sendable {
    let number: Int
    /// The error correction codewords of a block.
    let correctionCount: Int
    /// The data codewords of each block.
    let blocks: [Int]
    /// The rows and columns of the alignment patterns.
    let alignment: [Int]

    var size: Int { 17 + 4 * number }
    var dataCount: Int { blocks.reduce(0, +) }

    static let all: [Version] = [
      Version(number: 1, correctionCount: 10, blocks: [16], alignment: []),
      Version(number: 2, correctionCount: 16, blocks: [28], alignment: [6, 18]),
      Version(number: 3, correctionCount: 26, blocks: [44], alignment: [6, 22]),
      Version(number: 4, correctionCount: 18, blocks: [32, 32], alignment: [6, 26]),
      Version(number: 5, correctionCount: 24, blocks: [43, 43], alignment: [6, 30]),
      Version(number: 6, correctionCount: 16, blocks: [27, 27, 27, 27], alignment: [6, 34]),
      Version(number: 7, correctionCount: 18, blocks: [31, 31, 31, 31], alignment: [6, 22, 38]),
      Version(number: 8, correctionCount: 22, blocks: [38, 38, 39, 39], alignment: [6, 24, 42]),
      Version(
        number: 9, correctionCount: 22, blocks: [36, 36, 36, 37, 37], alignment: [6, 26, 46]),
    ]
  }

  /// The mode and the number of bytes take 12 bits.
  private static func capacity(of version: Version) -> Int { version.dataCount - 2 }

  /// The data and error correction codewords, interleaved.
  private static func codewords(_ bytes: [UInt8], _ version: Version) -> [UInt8] {
    // Mode 4 (bytes), the count, the bytes, the end: shifted by half a byte.
    var data = [UInt8(0x40 | bytes.count >> 4), UInt8((bytes.count & 15) << 4)]
    for byte in bytes {
      data[data.count - 1] |= byte >> 4
      data.append(byte << 4)
    }
    var padding: UInt8 = 0xEC
    while data.count < version.dataCount {
      data.append(padding)
      padding ^= 0xEC ^ 0x11
    }
    var blocks: [[UInt8]] = []
    var start = 0
    for count in version.blocks {
      blocks.append(Array(data[start..<(start + count)]))
      start += count
    }
    let corrections = blocks.map { ReedSolomon.remainder($0, count: version.correctionCount) }
    return interleaved(blocks) + interleaved(corrections)
  }

  private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
    (0..<(blocks.map(\.count).max() ?? 0)).flatMap { index in
      blocks.compactMap { index < $0.count ? $0[index] : nil }
    }
  }
}

/// The error correction of QR codes: Reed-Solomon over GF(256) with the polynomial 0x11D.
enum ReedSolomon {
  /// The `count` error correction codewords of `data`.
  static func remainder(_ data: [UInt8], count: Int) -> [UInt8] {
    let generator = generator(count)
    var remainder = [UInt8](repeating: 0, count: count)
    for byte in data {
      let factor = byte ^ remainder[0]
      remainder.removeFirst()
      remainder.append(0)
      for index in 0..<count { remainder[index] ^= product(generator[index], factor) }
    }
    return remainder
  }

  /// The coefficients of the generator polynomial without the first one, which is 1.
  private static func generator(_ count: Int) -> [UInt8] {
    var coefficients = [UInt8](repeating: 0, count: count)
    coefficients[count - 1] = 1
    var root: UInt8 = 1
    for _ in 0..<count {
      for index in 0..<count {
        coefficients[index] = product(coefficients[index], root)
        if index + 1 < count { coefficients[index] ^= coefficients[index + 1] }
      }
      root = product(root, 2)
    }
    return coefficients
  }

  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var product: UInt16 = 0
    for bit in 0..<8 where right >> UInt8(bit) & 1 == 1 { product ^= UInt16(left) << UInt16(bit) }
    for bit in stride(from: 15, through: 8, by: -1) where product >> UInt16(bit) & 1 == 1 {
      product ^= 0x11D << UInt16(bit - 8)
    }
    return UInt8(product)
  }
}

extension QRCode {
  /// The dark modules as the path of an SVG with a unit for each module.
  ///
  /// - Parameter border: The light modules around the code; readers need four.
  package func svgPath(border: Int = 4) -> String {
    var path = ""
    for (row, modules) in modules.enumerated() {
      var column = 0
      while column < modules.count {
        let length = modules[column...].prefix { $0 }.count
        if length > 0 {
          path += "M\(column + border) \(row + border)h\(length)v1h-\(length)z"
        }
        column += max(1, length)
      }
    }
    return path
  }
}
