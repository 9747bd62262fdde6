// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The retention periods of stored data.
public enum RemovalRule {
  /// One day, in seconds.
  public static let daySeconds: TimeInterval = 86_400
  /// The retention of exposures and of rows in the check history, in days.
  public static let exposureDays = 14
  /// The same in seconds.
  public static let exposureSeconds = Double(exposureDays) * daySeconds
  /// The retention of the daily key counts, in days.
  public static let dayChecksDays = 7
  /// The validity of an unfinished upload's token, in seconds. Its keys are kept for a day, so that the same
  /// PIN can get the same token again.
  public static let pendingUploadSeconds: TimeInterval = 30 * 60
  /// The longest retention of an unfinished upload, with its PIN and keys, in seconds.
  public static let unfinishedUploadSeconds: TimeInterval = 3 * daySeconds
  /// The retention of a complete upload's hashed PIN, in seconds.
  public static let completedUploadSeconds: TimeInterval = 14 * daySeconds

  /// The date of the oldest exposure that is kept at `now`.
  static func oldestExposure(at now: Date) -> Date {
    now.addingTimeInterval(-exposureSeconds)
  }
}
