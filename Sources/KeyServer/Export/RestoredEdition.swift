// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The editions of key files after a restoration, whose backup does not know which editions were served since.
///
/// They grow with the time of the restoration: by one each second while a file is new, then by one in `laterSeconds`.
/// An edition of five digits has no space for each second of the 14 days of an index.
enum RestoredEdition {
  /// The age of a file in seconds up to which each second has an edition: nine hours.
  private static let newSecondsMax = 9 * 3_600
  /// The seconds of an edition of an older file.
  private static let laterSeconds = 20
  /// The largest least edition. It leaves thousands of five-digit numbers for files that are written again.
  private static let leastMax = 92_000
  /// The editions that a file may have had in addition to one in each of these times.
  private static let spare = 10

  /// The least edition of a file whose period ended at `end`.
  static func least(ofFileFrom end: Date, restoredAt time: Date) -> Int {
    let age = Int(time.timeIntervalSince(end))
    let steps = min(age, newSecondsMax) + max(age - newSecondsMax, 0) / laterSeconds
    return min(steps, leastMax) + spare
  }

  /// The seconds after a restoration at `time` in which another one would give a file whose period ended at `end` the
  /// same edition.
  static func seconds(ofFileFrom end: Date, restoredAt time: Date) -> Int {
    time.timeIntervalSince(end) < TimeInterval(newSecondsMax) ? 1 : laterSeconds
  }
}
