// SPDX-License-Identifier: Apache-2.0
import Secrets

/// Sixteen bytes, the size of every key and identifier of the protocol.
///
/// Two words instead of an array, because a phone compares and hashes millions of them a day.
package struct SixteenBytes: Hashable, Sendable {
  /// The number of bytes.
  package static let count = 16

  private let head: UInt64
  private let tail: UInt64

  /// Returns nil unless there are exactly sixteen bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self =
      bytes.withContiguousStorageIfAvailable(Self.init(contiguous:))
      ?? Array(bytes).withUnsafeBufferPointer(Self.init(contiguous:))
  }

  // Neither this nor `array` has the bytes of a key in a local variable, which would remain on the stack.
  private init(contiguous bytes: UnsafeBufferPointer<UInt8>) {
    let bytes = UnsafeRawBufferPointer(bytes)
    head = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    tail = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  var array: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.count) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.storeBytes(of: head.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = Self.count
    }
  }

  /// Creates the bytes from two words in memory order.
  package init(words: (UInt64, UInt64)) {
    head = UInt64(bigEndian: words.0)
    tail = UInt64(bigEndian: words.1)
  }

  /// The bytes as two words in memory order.
  package var words: (UInt64, UInt64) { (head.bigEndian, tail.bigEndian) }
}

extension SixteenBytes: Comparable {
  /// The order of the bytes, in which key files are sorted.
  package static func < (left: SixteenBytes, right: SixteenBytes) -> Bool {
    (left.head, left.tail) < (right.head, right.tail)
  }
}

extension SixteenBytes: Redacted {}
