// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The four encrypted bytes that are sent with a Rolling Proximity Identifier.
///
/// Cryptography Specification 1.2.1, "Associated Encrypted Metadata". Only the Temporary Exposure Key
/// decrypts them, with `KeySchedule.open(_:beside:)`.
public struct AssociatedEncryptedMetadata: Hashable, Sendable {
  /// The size of the metadata, in bytes.
  public static let byteCount = 4

  /// The four bytes without an array, the first one highest: a phone holds a million of them at once.
  private let word: UInt32

  /// The four bytes in over-the-air order.
  public var bytes: [UInt8] { withUnsafeBytes(of: word.bigEndian, Array.init) }

  /// Returns nil unless there are exactly four bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(four: bytes)
  }

  /// The four bytes as a word in memory order.
  package var storedWord: UInt32 { word.bigEndian }

  /// Creates the metadata from a word in memory order.
  package init(storedWord: UInt32) {
    word = UInt32(bigEndian: storedWord)
  }

  init(four: some Collection<UInt8>) {
    word = four.reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension AssociatedEncryptedMetadata: Redacted {}
