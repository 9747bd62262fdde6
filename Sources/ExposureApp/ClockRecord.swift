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

extension ExposureApp {
  /// True if the phone's clock was wrong when it was compared last.
  public var isClockWrong: Bool { store.state.clockRecord?.isWrong ?? false }

  /// Compares the phone's clock with the accepted documents of the server. When the clock is right again, the files
  /// that were analysed meanwhile are wanted again, because encounters may not have been found in them.
  ///
  /// - Parameter hasFutureFiles: True if the server lists files of the phone's future, which counts if its documents
  ///   state no time; `nil` if that is not known. An index without them, which may be empty, does not refute a stated
  ///   time.
  func noteClock(of server: RetryingNetwork, hasFutureFiles: Bool? = nil) async {
    let ahead = await server.clockComparison.secondsAhead
    guard let isWrong = ahead.map({ abs($0) > ClockRule.differenceSecondsMax }) ?? hasFutureFiles
    else { return }
    var record = store.state.clockRecord ?? ClockRecord()
    guard ahead != nil || isWrong || record.lastWrong?.secondsAhead == nil else { return }
    let now = clock.now
    record.note(isWrong: isWrong, secondsAhead: ahead, at: now)
    let wasWrong = isClockWrong
    let files = record.takeFiles(at: now)
    guard record != store.state.clockRecord ?? ClockRecord() || !files.isEmpty else { return }
    store.updateIfPossible { state in
      state.clockRecord = record
      state.download.wantAgain(files)
      // The files of the current days may have been ignored meanwhile, although the index has not changed.
      if wasWrong, !isWrong { state.download.indexVersion = nil }
    }
    tellSystemOfClock()
  }

  /// Tells the framework whether the phone's clock is wrong.
  func tellSystemOfClock() {
    let error = store.state.clockError
    trust.setClock(isWrong: error != nil, secondsAhead: error?.secondsAhead)
  }

  /// Returns `true` if a second source also finds the clock wrong: a signed document that was issued in the phone's
  /// future, or the time of the verification server. The time of the key server's responses is not signed, and
  /// a cache or proxy with a wrong clock must not stop all uploads of a region.
  ///
  /// If the verification server states another time, the first verdict is taken back.
  func isWrongClockConfirmed() async -> Bool {
    let limit = ClockRule.differenceSecondsMax
    let latest = clock.now.addingTimeInterval(limit).unixSecond
    if let document = deviceConfiguration, document.issued > latest { return true }
    guard let ahead = await secondsAheadOfVerificationServer() else { return false }
    guard abs(ahead) <= limit else { return true }
    store.updateIfPossible { $0.clockRecord?.refute() }
    tellSystemOfClock()
    return false
  }

  /// Compares the phone's clock with the verification server, by a decoy; `nil` if it states no time.
  private func secondsAheadOfVerificationServer() async -> TimeInterval? {
    let requests = UploadRequests(configuration: configuration, randomness: randomness)
    let sent = clock.now
    // Without a response, the upload will not get one either, and says so.
    let response = try? await network.send(requests.tokenDecoy())
    return response?.secondsAhead(sent: sent, received: clock.now)
  }

  /// The released keys without those that a wrong clock has made.
  ///
  /// - Throws: `UploadFailure.keysOfWrongTime` if there are no others.
  func keysOfRightTimes(_ keys: [ReleasedKey]) throws(UploadFailure) -> [ReleasedKey] {
    let (record, now) = (store.state.clockRecord ?? ClockRecord(), clock.now)
    let right = keys.filter { record.isRight($0.start, at: now) }
    guard right.isEmpty, !keys.isEmpty else { return right }
    throw .keysOfWrongTime
  }
}
