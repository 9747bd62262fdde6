// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The calls, files and infectiousness maps of earlier detections, which limit the next one.
struct DetectionHistory: Equatable, Sendable {
  var quota = DetectionQuota()
  var files = KeyFileQuota()
  var map = InfectiousnessMapHistory()
  /// The calls whose files were refused.
  var refusals = DetectionQuota()
  var analysed = AnalysedFiles()

  /// Counts `call`.
  ///
  /// - Throws: `.rateLimited` if a limit is exceeded; then nothing is counted.
  mutating func take(_ call: DetectionCall) throws(ENError) {
    var next = self
    if let map = call.map {
      guard next.map.take(map, at: call.time, isFree: call.changesMapFreely) else {
        throw ENError(.rateLimited, explanation: Self.mapChangedTwice)
      }
    }
    let isWithinLimit =
      switch call.limit {
      case .calls(let limit): next.quota.take(at: call.time, limit: limit)
      case .newFiles(let digests, let limit):
        next.files.take(digests, at: call.time, limit: limit)
      }
    guard isWithinLimit else { throw ENError(.rateLimited) }
    self = next
  }

  /// Refunds the last call, whose files were rejected. `earlier` is the history before the call.
  ///
  /// A rejected call reveals nothing to the app, and a bad file must not use up the quota for good ones. The
  /// number of refunds is limited, which bounds the work for bad files.
  mutating func refund(to earlier: DetectionHistory, at now: Date) {
    guard refusals.take(at: now, limit: DeviceLimit.refundsPerDay) else { return }
    (quota, files, map) = (earlier.quota, earlier.files, earlier.map)
  }

  private static let mapChangedTwice = """
    infectiousnessForDaysSinceOnsetOfSymptoms may change once a week; keep using the last map.
    """
}

/// The properties of one call of `detectExposures` that the limits depend on.
struct DetectionCall: Sendable {
  enum Limit: Sendable {
    /// At most this many calls in 24 hours.
    case calls(Int)
    /// The digests of this call's files, and the limit of new files in 24 hours.
    case newFiles(Set<Data>, Int)
  }

  let time: Date
  let limit: Limit
  /// The infectiousness map; nil in API version 1.
  let map: [Int: UInt32]?
  /// True if the map may change without a limit.
  let changesMapFreely: Bool
  /// The digests of this call's files in API version 2, which keeps their matches.
  var keyFiles: Set<Data> = []
}

/// The calls of the last 24 hours.
struct DetectionQuota: Equatable, Codable, Sendable {
  private(set) var calls: [Date] = []

  /// Counts a call. Returns `false` and counts nothing if there were `limit` calls in 24 hours.
  mutating func take(at now: Date, limit: Int) -> Bool {
    // A call in the future means that the clock was set back; it counts for a day as well.
    calls.removeAll { abs($0.timeIntervalSince(now)) >= Day.seconds }
    guard calls.count < limit else { return false }
    calls.append(now)
    return true
  }
}

/// The SHA-256 digests of the key files of the last 24 hours, which iOS 13.5 counts.
struct KeyFileQuota: Equatable, Codable, Sendable {
  private(set) var seen: [Data: Date] = [:]

  /// Counts `digests`. Returns `false` and counts nothing if new ones among them exceed `limit`.
  mutating func take(_ digests: Set<Data>, at now: Date, limit: Int) -> Bool {
    var next = seen.filter { abs($0.value.timeIntervalSince(now)) < Day.seconds }
    for digest in digests where next[digest] == nil { next[digest] = now }
    guard next.count <= limit else { return false }
    seen = next
    return true
  }
}

/// The last infectiousness map and the date of its last change.
///
/// An app that changes the map before each detection could infer the day of an exposure from the results. So
/// the map may change only once a week.
struct InfectiousnessMapHistory: Equatable, Codable, Sendable {
  private var last: [Int: UInt32]?
  private var changed: Date?

  /// Records `map`. Returns `false` and records nothing if the map changed less than a week ago.
  mutating func take(_ map: [Int: UInt32], at now: Date, isFree: Bool) -> Bool {
    guard let last, last != map else {
      last = map
      return true
    }
    if let changed, !isFree, abs(now.timeIntervalSince(changed)) < DeviceLimit.mapChangeSeconds {
      return false
    }
    self.last = map
    changed = now
    return true
  }
}

/// The key files whose matches the device keeps, by their SHA-256, and those whose matches were lost.
///
/// API version 2 keeps matches for the app. After they are lost, a result without them would wrongly show no
/// risk. So detections fail until every file has been passed again or is older than 14 days.
struct AnalysedFiles: Equatable, Codable, Sendable {
  /// The date when each file was last passed in.
  private(set) var passed: [Data: Date] = [:]
  /// The files that must be passed again.
  private(set) var lost: Set<Data> = []
  /// True while matches are stored, so that a missing file of matches is a loss.
  var hasMatches = false

  /// Adds the files of a successful detection at `now`, and removes old ones.
  mutating func add(_ files: Set<Data>, at now: Date, keeping period: RetentionPeriod) {
    for file in files { passed[file] = now }
    passed = passed.filter { period.keeps(since: $0.value) }
    let excess = passed.count - DeviceLimit.analysedFiles
    if excess > 0 {
      for (file, _) in passed.sorted(by: { $0.value < $1.value }).prefix(excess) {
        passed[file] = nil
      }
    }
    lost.subtract(files)
    lost.formIntersection(passed.keys)
  }

  /// Records that the matches of all files are lost.
  mutating func lose() {
    lost = Set(passed.keys)
    hasMatches = false
  }

  /// Removes withdrawn files, which need not be passed again.
  mutating func forget(_ files: Set<Data>) {
    for file in files { passed[file] = nil }
    lost.subtract(files)
  }

  /// Records that all available files have been passed again.
  mutating func confirm() {
    lost = []
  }
}

/// `DetectionHistory` as stored in the sealed file `detections`.
struct StoredHistory: Codable {
  let calls: DetectionQuota
  let files: KeyFileQuota
  let map: InfectiousnessMapHistory
  let refusals: DetectionQuota
  let analysed: AnalysedFiles

  init(_ history: DetectionHistory) {
    calls = history.quota
    files = history.files
    map = history.map
    refusals = history.refusals
    analysed = history.analysed
  }

  var history: DetectionHistory {
    DetectionHistory(
      quota: calls, files: files, map: map, refusals: refusals, analysed: analysed)
  }
}
