// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The times at which the phone's clock was wrong. The property names are the JSON keys on disk.
struct ClockRecord: Codable, Sendable, Equatable {
  /// A comparison that found a wrong clock.
  struct Comparison: Codable, Sendable, Equatable {
    /// The time of the phone's clock.
    let time: Date
    /// The seconds by which it was ahead; `nil` if the server stated no time.
    let secondsAhead: TimeInterval?

    func isSame(as other: Comparison) -> Bool {
      guard let secondsAhead, let before = other.secondsAhead else {
        return secondsAhead == other.secondsAhead
      }
      return abs(secondsAhead - before) <= ClockRule.differenceSecondsMax
    }
  }

  /// True if the clock was wrong by the key server when it was compared last.
  private(set) var isWrong = false
  /// The last comparison if it found a wrong clock.
  private(set) var lastWrong: Comparison?
  /// True if a second source also finds the clock wrong, false if it does not; `nil` without its answer, or while the
  /// clock is right.
  private(set) var isConfirmed: Bool?
  /// The names of the files that were analysed while the clock was wrong.
  private(set) var files: Set<String> = []

  /// The days on which the clock was wrong for certain, as numbers of days since 1970 in UTC.
  private var wrongDays: [Int] = []
  /// The days of the current verdict, which count if it is confirmed; `nil` if there are none.
  private var markedDays: [Int]?
  /// The time of the last comparison that found the clock right; `nil` before the first.
  private var lastRight: Date?
  /// The days of comparisons that found the clock right; `nil` before the first. The keys of these days began at a
  /// right time.
  private var rightDays: [Int]?

  /// True if the clock is wrong, and no second source finds it right.
  var countsAsWrong: Bool { isWrong && isConfirmed != false }

  /// The days whose keys may have wrong times.
  var confirmedDays: [Int] {
    guard let markedDays, isConfirmed == true else { return wrongDays }
    return wrongDays.filter { !markedDays.contains($0) } + markedDays
  }

  /// Records a comparison at `now`, the time of the phone's clock.
  ///
  /// - Parameter secondsAhead: The seconds by which the phone's clock is ahead; `nil` if the server stated no time.
  mutating func note(isWrong: Bool, secondsAhead: TimeInterval?, at now: Date) {
    self.isWrong = isWrong
    if isWrong {
      noteWrong(Comparison(time: now, secondsAhead: secondsAhead))
    } else {
      noteRight(at: now)
    }
  }

  /// Records the answer of a second source.
  mutating func confirm(_ isConfirmed: Bool) {
    guard isWrong else { return }
    if !isConfirmed { endVerdict() }
    if isConfirmed, self.isConfirmed == false, let lastWrong {
      mark(from: lastWrong.time, to: lastWrong.time)
    }
    self.isConfirmed = isConfirmed
  }

  /// Ends the current verdict: its days count for good if it is confirmed, else they are forgotten.
  private mutating func endVerdict() {
    wrongDays = confirmedDays.suffix(ClockRule.wrongDaysMax)
    (markedDays, isConfirmed) = (nil, nil)
  }

  private mutating func noteWrong(_ comparison: Comparison) {
    let (now, last) = (comparison.time, lastWrong)
    lastWrong = comparison
    let isSame = last.map { comparison.isSame(as: $0) }
    if let last, isSame == false {
      // The clock may have been set since, so a later answer says nothing about the days before.
      markDays(since: last, until: comparison)
      endVerdict()
    }
    if isConfirmed == false { return }
    mark(from: now, to: now)
    if let last {
      // Between two comparisons with the same result, the clock was wrong too.
      if isSame == true { mark(from: last.time, to: now) }
    } else if let lastRight, let ahead = comparison.secondsAhead {
      // The clock may have been wrong since then.
      let longest = RemovalRule.oldestExposure(at: now)
      mark(from: max(lastRight.addingTimeInterval(ahead), longest), to: now)
    }
  }

  /// Marks the days between two comparisons with different results. Without a stated time the clock is behind, and may
  /// have been ahead until it was set.
  private mutating func markDays(since last: Comparison, until comparison: Comparison) {
    if let ahead = comparison.secondsAhead, last.secondsAhead != nil {
      markDays(since: last, setAt: comparison.time.addingTimeInterval(-ahead))
    } else {
      let end = comparison.time.addingTimeInterval(max(0, last.secondsAhead ?? 0))
      mark(from: last.time, to: end)
    }
  }

  private mutating func noteRight(at now: Date) {
    if let lastWrong { markDays(since: lastWrong, setAt: now) }
    let kept = now.unixDay - RemovalRule.exposureDays...now.unixDay
    endVerdict()
    wrongDays.removeAll { !kept.contains($0) }
    (lastWrong, lastRight) = (nil, now)
    rightDays = (rightDays ?? []).filter { kept.contains($0) && $0 != now.unixDay } + [now.unixDay]
  }

  /// Marks the days since `comparison` on which the clock may have been wrong in the same way, until it was set at the
  /// right time `end` at the latest. Without a stated time, the clock was behind, by less than is known.
  private mutating func markDays(since comparison: Comparison, setAt end: Date) {
    mark(from: comparison.time, to: end.addingTimeInterval(comparison.secondsAhead ?? 0))
  }

  /// Marks the days from `start` to `end` of the phone's clock, unless they are far apart. The key of a day on which a
  /// comparison has found the clock right exists already, and is right.
  private mutating func mark(from start: Date, to end: Date) {
    let (first, last) = (start.unixDay, end.unixDay)
    guard (0...RemovalRule.exposureDays).contains(last - first) else { return }
    let days = (first...last).filter { rightDays?.contains($0) != true }
    let others = (markedDays ?? []).filter { !days.contains($0) }
    markedDays = (others + days).suffix(ClockRule.wrongDaysMax)
  }

  /// Records files that were analysed now. If there are too many, the oldest are forgotten.
  mutating func note(analysed names: [String]) {
    guard countsAsWrong else { return }
    // Names begin with a time.
    files = Set(files.union(names).sorted().suffix(DownloadLimit.wantedMax))
  }

  /// Returns the files of the last fourteen days to analyse again, if the clock is right; all are forgotten.
  mutating func takeFiles(at now: Date) -> Set<String> {
    guard !countsAsWrong else { return [] }
    defer { files = [] }
    let oldest = RemovalRule.oldestExposure(at: now).unixSecond
    return files.filter { KeyFileName($0).map { $0.endTimestamp >= oldest } ?? false }
  }

  /// Returns `true` if a key that began at `start` was not made by a clock that is known to have been wrong.
  func isRight(_ start: Date, at now: Date) -> Bool {
    start <= now && !confirmedDays.contains(start.unixDay)
  }
}

/// Limits of the phone's clock.
public enum ClockRule {
  /// The largest difference between the phone's clock and the server's time, in seconds. Keys are matched with
  /// beacons that were received up to two hours before or after their time.
  public static let differenceSecondsMax: TimeInterval = 3_600
  /// The number of days of a wrong clock that are remembered.
  static let wrongDaysMax = 60
}
