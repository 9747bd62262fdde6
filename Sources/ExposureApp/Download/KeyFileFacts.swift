// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI

/// The statements of a key file about itself. The framework verifies the signature over them.
public struct KeyFileFacts: Hashable, Sendable {
  /// The start of the period in which the keys were published, in Unix seconds.
  public let start: UInt64
  /// The end of the period, in Unix seconds.
  public let end: UInt64
  /// The region, such as `PL`.
  public let region: String
  /// The number of keys.
  public let keyCount: Int

  /// Creates facts.
  public init(start: UInt64, end: UInt64, region: String, keyCount: Int) {
    self.start = start
    self.end = end
    self.region = region
    self.keyCount = keyCount
  }

  /// Returns `true` if the period is that of `name`, which is not signed: a server or a cache may deliver another file.
  func match(_ name: KeyFileName) -> Bool {
    end == UInt64(name.endTimestamp)
      && (name.startTimestamp.map { start == UInt64($0) } ?? true)
  }
}
