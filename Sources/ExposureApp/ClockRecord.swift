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
  /// The days of the wrong clock, as numbers of days since 1970 in UTC. Keys that began on them have wrong times.
  private(set) var wrongDays: [Int] = []
  /// The names of the files that were analysed while the clock was wrong.
  private(set) var files: Set<String> = []

  /// Records a comparison at `now`, the time of the phone's clock.
  ///
  /// - Parameter secondsAhead: The seconds by which the phone's clock is ahead; `nil` if the server stated no time.
  mutating func note(isWrong: Bool, secondsAhead: TimeInterval?, at now: Date) {
    let last = lastWrong
    self.isWrong = isWrong
    guard isWrong else {
      // The clock may have been wrong until now.
      if let last { mark(from: last.time, to: now.addingTimeInterval(last.secondsAhead ?? 0)) }
      lastWrong = nil
      let kept = now.unixDay - RemovalRule.exposureDays...now.unixDay
      wrongDays.removeAll { !kept.contains($0) }
      return
    }
    lastWrong = Comparison(time: now, secondsAhead: secondsAhead)
    // Between two comparisons with the same difference, the clock was wrong too.
    let isSame = last?.secondsAhead.flatMap { before in
      secondsAhead.map { abs($0 - before) <= ClockRule.differenceSecondsMax }
    }
    if isSame == true, let last { mark(from: last.time, to: now) }
    mark(from: now, to: now)
  }

  /// Marks the days from `start` to `end` of the phone's clock, unless they are far apart.
  private mutating func mark(from start: Date, to end: Date) {
    let (first, last) = (start.unixDay, end.unixDay)
    guard (0...RemovalRule.exposureDays).contains(last - first) else { return }
    let days = Array(first...last)
    wrongDays.removeAll(where: days.contains)
    wrongDays = (wrongDays + days).suffix(ClockRule.wrongDaysMax)
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
