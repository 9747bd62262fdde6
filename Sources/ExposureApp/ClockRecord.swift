// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The times at which the phone's clock was wrong. The property names are the JSON keys on disk.
struct ClockRecord: Codable, Sendable, Equatable {
  /// True if the clock was wrong when it was compared last.
  private(set) var isWrong = false
  /// The days of the wrong clock, as numbers of days since 1970 in UTC. Keys that began on them have wrong times.
  private(set) var wrongDays: [Int] = []
  /// The names of the files that were analysed while the clock was wrong.
  private(set) var files: Set<String> = []

  /// Records a comparison at `now`, the time of the phone's clock.
  mutating func note(isWrong: Bool, at now: Date) {
    let (day, wasWrong) = (now.unixDay, self.isWrong)
    self.isWrong = isWrong
    guard isWrong else { return }
    // Between two comparisons that both found a wrong clock, it was wrong too.
    let first = wasWrong ? wrongDays.last ?? day : day
    let isNear = (0...RemovalRule.exposureDays).contains(day - first)
    let days = isNear ? Array(first...day) : [day]
    wrongDays.removeAll(where: days.contains)
    wrongDays = (wrongDays + days).suffix(ClockRule.wrongDaysMax)
  }

  /// Records files that were analysed now.
  mutating func note(analysed names: [String]) {
    if isWrong { files.formUnion(names) }
  }

  /// Returns the files to analyse again, if the clock is right; they are forgotten.
  mutating func takeFiles() -> Set<String> {
    guard !isWrong else { return [] }
    defer { files = [] }
    return files
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

extension ExposureApp {
  /// True if the phone's clock was wrong when it was compared last.
  var isClockWrong: Bool { store.state.clockRecord?.isWrong ?? false }

  /// Compares the phone's clock with the responses of the server. When the clock is right again, the files that were
  /// analysed meanwhile are wanted again, because encounters may not have been found in them.
  ///
  /// - Parameter hasFutureFiles: True if the server lists files of the phone's future, which counts if its responses
  ///   state no time; `nil` if that is not known.
  func noteClock(of server: RetryingNetwork, hasFutureFiles: Bool? = nil) async {
    let ahead = await server.clockComparison.secondsAhead
    guard let isWrong = ahead.map({ abs($0) > ClockRule.differenceSecondsMax }) ?? hasFutureFiles
    else { return }
    var record = store.state.clockRecord ?? ClockRecord()
    record.note(isWrong: isWrong, at: clock.now)
    let files = record.takeFiles()
    guard record != store.state.clockRecord ?? ClockRecord() || !files.isEmpty else { return }
    store.updateIfPossible { state in
      state.clockRecord = record
      state.download.wantAgain(files)
    }
  }

  /// The released keys without those that a wrong clock has made.
  ///
  /// - Throws: `UploadFailure.clockWrong` if there are no others.
  func keysOfRightTimes(_ keys: [ReleasedKey]) throws(UploadFailure) -> [ReleasedKey] {
    let (record, now) = (store.state.clockRecord ?? ClockRecord(), clock.now)
    let right = keys.filter { record.isRight($0.start, at: now) }
    guard right.isEmpty, !keys.isEmpty else { return right }
    throw .clockWrong
  }
}
