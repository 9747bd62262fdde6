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
  }

  /// True if the clock was wrong when it was compared last.
  private(set) var isWrong = false
  /// The last comparison if it found a wrong clock.
  private(set) var lastWrong: Comparison?
  /// The days of the wrong clock, as numbers of days since 1970 in UTC. Keys that began on them may have wrong times.
  private(set) var wrongDays: [Int] = []
  /// The names of the files that were analysed while the clock was wrong.
  private(set) var files: Set<String> = []

  /// The time of the last comparison that found the clock right; `nil` before the first.
  private var lastRight: Date?
  /// The days of comparisons that found the clock right; `nil` before the first. The keys of these days began at a
  /// right time.
  private var rightDays: [Int]?
  /// The wrong days before the clock was found wrong; `nil` while it is right.
  private var earlierWrongDays: [Int]?

  /// Records a comparison at `now`, the time of the phone's clock.
  ///
  /// - Parameter secondsAhead: The seconds by which the phone's clock is ahead; `nil` if the server stated no time.
  mutating func note(isWrong: Bool, secondsAhead: TimeInterval?, at now: Date) {
    if isWrong, !self.isWrong { earlierWrongDays = wrongDays }
    self.isWrong = isWrong
    if isWrong {
      noteWrong(Comparison(time: now, secondsAhead: secondsAhead))
    } else {
      noteRight(at: now)
    }
  }

  private mutating func noteWrong(_ comparison: Comparison) {
    let (now, last) = (comparison.time, lastWrong)
    lastWrong = comparison
    mark(from: now, to: now, by: comparison)
    guard let ahead = comparison.secondsAhead else { return }
    if let last {
      // Between two comparisons with the same difference, the clock was wrong too.
      let isSame = last.secondsAhead.map { abs($0 - ahead) <= ClockRule.differenceSecondsMax }
      if isSame == true { mark(from: last.time, to: now, by: comparison) }
    } else if let lastRight {
      // The clock may have been wrong since then.
      let longest = now.addingTimeInterval(
        -Double(RemovalRule.exposureDays) * RemovalRule.daySeconds)
      mark(from: max(lastRight.addingTimeInterval(ahead), longest), to: now, by: comparison)
    }
  }

  private mutating func noteRight(at now: Date) {
    if let lastWrong {
      // The clock may have been wrong until now. Without a stated time, nothing is known of the time in between.
      let end = lastWrong.secondsAhead.map { now.addingTimeInterval($0) } ?? lastWrong.time
      mark(from: lastWrong.time, to: end, by: lastWrong)
    }
    (lastWrong, earlierWrongDays, lastRight) = (nil, nil, now)
    let kept = now.unixDay - RemovalRule.exposureDays...now.unixDay
    wrongDays.removeAll { !kept.contains($0) }
    rightDays = (rightDays ?? []).filter { kept.contains($0) && $0 != now.unixDay } + [now.unixDay]
  }

  /// Marks the days from `start` to `end` of the phone's clock, unless they are far apart.
  ///
  /// A clock that is wrong by days shows days on which it may have been right before. Their keys exist already, and
  /// are right.
  private mutating func mark(from start: Date, to end: Date, by comparison: Comparison) {
    let (first, last) = (start.unixDay, end.unixDay)
    guard (0...RemovalRule.exposureDays).contains(last - first) else { return }
    let isFarOff = comparison.secondsAhead.map { abs($0) >= RemovalRule.daySeconds } ?? true
    let days = (first...last).filter { !isFarOff || rightDays?.contains($0) != true }
    wrongDays.removeAll(where: days.contains)
    wrongDays = (wrongDays + days).suffix(ClockRule.wrongDaysMax)
  }

  /// Takes back that the clock is wrong, and the days of that, because a second server states its time.
  mutating func refute() {
    guard isWrong else { return }
    (isWrong, lastWrong, wrongDays) = (false, nil, earlierWrongDays ?? wrongDays)
    earlierWrongDays = nil
  }

  /// Records files that were analysed now. If there are too many, the oldest are forgotten.
  mutating func note(analysed names: [String]) {
    guard isWrong else { return }
    // Names begin with a time.
    files = Set(files.union(names).sorted().suffix(DownloadLimit.wantedMax))
  }

  /// Returns the files of the last fourteen days to analyse again, if the clock is right; all are forgotten.
  mutating func takeFiles(at now: Date) -> Set<String> {
    guard !isWrong else { return [] }
    defer { files = [] }
    let oldest = RemovalRule.oldestExposure(at: now).unixSecond
    return files.filter { KeyFileName($0).map { $0.endTimestamp >= oldest } ?? false }
  }

  /// Returns `true` if a key that began at `start` was not made by a clock that is known to have been wrong.
  func isRight(_ start: Date, at now: Date) -> Bool {
    start <= now && !wrongDays.contains(start.unixDay)
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
