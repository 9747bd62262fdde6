import TestSupport

/// A key as a kernel takes it.
struct PublishedKey {
  let bytes: [UInt8]
  let first: UInt32
  let length: UInt16

  /// Keys of a day or less, from the same few weeks.
  static func random(
    _ count: Int, from chance: inout SeededGenerator, length: ClosedRange<UInt16> = 0...144
  ) -> [PublishedKey] {
    (0..<count).map { _ in
      PublishedKey(
        bytes: bytes(16, from: &chance), first: .random(in: 2_600_000...2_650_000, using: &chance),
        length: .random(in: length, using: &chance))
    }
  }

  /// Bytes of chance.
  static func bytes(_ count: Int, from chance: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in .random(in: .min ... .max, using: &chance) }
  }
}
