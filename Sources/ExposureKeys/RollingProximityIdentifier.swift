// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The identifier that a phone sends for ten to twenty minutes.
///
/// Cryptography Specification 1.2.1, "Rolling Proximity Identifier": 16 bytes that look random without
/// the Temporary Exposure Key.
public struct RollingProximityIdentifier: Hashable, Sendable {
  /// The size of an identifier, in bytes.
  public static let byteCount = SixteenBytes.count

  private let value: SixteenBytes

  /// Returns nil unless there are exactly 16 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard let value = SixteenBytes(bytes) else { return nil }
    self.value = value
  }

  /// Creates the identifier from two words in memory order.
  package init(words: (UInt64, UInt64)) {
    value = SixteenBytes(words: words)
  }

  init(sixteen: SixteenBytes) {
    value = sixteen
  }

  /// The 16 bytes in over-the-air order.
  public var bytes: [UInt8] { value.array }

  /// The 16 bytes as two words in memory order, for the matcher's loops.
  package var words: (UInt64, UInt64) { value.words }
}

extension RollingProximityIdentifier: Redacted {}
