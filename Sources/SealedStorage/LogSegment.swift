import Foundation

/// What could be read of one day of a `SealedLog`.
public struct LogSegment: Sendable {
  /// The records, in the order they were added.
  public internal(set) var records: [Data] = []
  /// How many frames did not open and were left out.
  public internal(set) var damagedFrames = 0
}
