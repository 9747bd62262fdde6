// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The limits of the state that processes share.
enum SharedStateLimit {
  /// The time between two comparisons of a running server, in seconds.
  static let pollSeconds: TimeInterval = 15
  /// The time without a comparison after which a server serves nothing that another process could have revoked, in
  /// seconds.
  static let staleSeconds: TimeInterval = 120
  /// The number of times that a process tries to store its content if others are faster.
  static let attempts = 10
  /// The time that a process waits for another one with the same folder, in seconds.
  static let lockSeconds = 60
  /// The time between two attempts to get the lock, in seconds.
  static let lockPauseSeconds: TimeInterval = 0.05
  /// The number of these attempts.
  static let lockAttempts = Int(TimeInterval(lockSeconds) / lockPauseSeconds)
}
