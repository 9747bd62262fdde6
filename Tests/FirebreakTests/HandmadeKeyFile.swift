// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TestSupport

/// A signed key file with two keys, encoded field by field and not by the code under test.
struct HandmadeKeyFile {
  let privateKey = P256.Signing.PrivateKey()
  let export: [UInt8]
  let signatures: [UInt8]

  init(algorithm: String = "1.2.840.10045.4.3.2") throws {
    let info =
      Self.field(3, Array("v1".utf8)) + Self.field(4, Array("260".utf8))
      + Self.field(5, Array(algorithm.utf8))
    let keys = (1...2).flatMap { number -> [UInt8] in
      // The key's bytes, its risk level and its rolling start.
      Self.field(
        7,
        Self.field(1, [UInt8](repeating: UInt8(number), count: 16)) + [0x10, 3]
          + [0x18] + Self.varint(2_650_000))
    }
    export =
      Array("EK Export v1    ".utf8) + Self.fixed(1, 1_590_159_600) + Self.fixed(2, 1_590_246_000)
      + Self.field(3, Array("PL".utf8)) + [0x20, 1, 0x28, 1] + Self.field(6, info) + keys
    let signature = try privateKey.signature(for: export).derRepresentation
    signatures = Self.field(
      1, Self.field(1, info) + [0x10, 1, 0x18, 1] + Self.field(4, Array(signature)))
  }

  /// The file as a zip.
  var zip: RawZip {
    RawZip(entries: [
      .init(name: "export.bin", content: export), .init(name: "export.sig", content: signatures),
    ])
  }

  private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    [number << 3 | 2] + varint(content.count) + content
  }

  private static func fixed(_ number: UInt8, _ value: UInt64) -> [UInt8] {
    [number << 3 | 1] + (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func varint(_ value: Int) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
  }
}
