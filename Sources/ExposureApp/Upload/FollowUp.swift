// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import World

/// The sharing of the keys of the days after an upload, which the user agrees to once and can end at any time. The
/// property names are the JSON keys on disk.
public struct FollowUp: Codable, Hashable, Sendable {
  /// The progress of the sharing.
  public enum Status: String, Codable, Sendable, CaseIterable {
    /// The user can agree to it.
    case offered
    /// The user has agreed: the keys of each day are shared after it has ended.
    case active
    /// The user has ended it, or did not agree.
    case ended
    /// The keys of all days are shared.
    case complete
    /// The permit of the verification server is not valid any more.
    case refused
  }

  /// The progress of the sharing.
  public private(set) var status = Status.offered
  /// The last day whose keys are shared.
  public let lastDay: UTCDay
  /// The last day whose keys were shared, or were not there.
  public private(set) var sharedThrough: UTCDay
  /// The date that the user stated for the upload.
  let diagnosis: Diagnosis
  /// True if the user agreed to share the keys with other countries.
  let isInteroperabilityEnabled: Bool
  /// The earliest time of the next upload.
  private var next: Date?

  /// The offer after an upload at `now`; `nil` if the isolation is over.
  init?(after diagnosis: Diagnosis, isInteroperabilityEnabled: Bool, at now: Date) {
    let today = now.unixDay
    let age = diagnosis.day.map { max(0, UTCDay(today).days(since: $0)) } ?? 0
    lastDay = UTCDay(today - age + AdviceRule.isolationDays)
    guard lastDay.number >= today else { return nil }
    // The upload has shared at most a part of today's key.
    sharedThrough = UTCDay(today - 1)
    self.diagnosis = diagnosis
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
  }

  /// True while keys may still be shared, so that the permit is needed.
  public var isOpen: Bool { status == .offered || status == .active }

  /// The days whose keys are to be shared at `now`; `nil` if there are none, or if it is too early.
  func dueDays(at now: Date) -> ClosedRange<Int>? {
    let isEarly = next.map { (0...FollowUpRule.waitSecondsMax).contains($0.timeIntervalSince(now)) }
    let last = min(lastDay.number, now.unixDay - 1)
    guard status == .active, isEarly != true, sharedThrough.number < last else { return nil }
    return sharedThrough.number + 1...last
  }

  /// Returns `true` if the verification server gives no token any more.
  func isExpired(at now: Date) -> Bool { now.unixDay > lastDay.number + FollowUpRule.graceDays }

  /// Records that the user has agreed.
  mutating func begin(randomness: any Randomness) {
    status = .active
    wait(untilAfter: sharedThrough.number + 1, randomness)
  }

  /// Records that the keys up to `day` were shared.
  mutating func share(through day: Int, at now: Date, randomness: any Randomness) {
    sharedThrough = UTCDay(day)
    if day >= lastDay.number { status = .complete }
    wait(untilAfter: now.unixDay, randomness)
  }

  /// Postpones the next upload to the next day.
  mutating func postpone(at now: Date, randomness: any Randomness) {
    wait(untilAfter: now.unixDay, randomness)
  }

  /// Ends the sharing.
  mutating func end(_ status: Status) { self.status = status }

  /// Phones upload at different times of a day.
  private mutating func wait(untilAfter day: Int, _ randomness: any Randomness) {
    let seconds = randomness.number(in: FollowUpRule.uploadSeconds)
    next = Date(unixDay: day + 1).addingTimeInterval(Double(seconds))
  }
}

/// The means to share the keys of the following days, which are secret.
struct FollowUpMeans: Sendable, Equatable {
  /// The permit of the verification server.
  let permit: ZeroingBytes
  /// The upload of today that has no final response yet.
  var pending: PendingUpload?
}

extension FollowUpMeans: Redacted {}

/// The timing of uploads of the following days.
public enum FollowUpRule {
  /// The time after midnight (UTC) of an upload, in seconds, drawn at random for each day.
  public static let uploadSeconds = 3_600...6 * 3_600
  /// The longest pause after a failure, in seconds, unless a server asks for more.
  public static let retrySecondsMax: TimeInterval = 3_600
  /// The days after the last one on which its keys can be shared.
  public static let graceDays = 2
  /// The longest time until the next upload, in seconds. A later one was drawn before the clock was set back.
  static let waitSecondsMax: TimeInterval = 2 * RemovalRule.daySeconds
}
