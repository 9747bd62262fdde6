// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Secrets
import World

/// One counter of the statistics.
struct StatisticCount: Hashable, Sendable {
  /// The identity of the counter.
  struct Place: Hashable, Sendable {
    /// Unix seconds of the hour.
    let hour: Int64
    let issuer: String
    let kind: StatisticKind
    let bucket: Int
  }

  let place: Place
  let count: Int
}

/// The quantities that are counted. The raw values are stored in the database, except `fileWait`.
enum StatisticKind: String, CaseIterable, Sendable {
  /// Uploads, with a bucket for each `UploadPlatform`.
  case uploads
  /// New keys.
  case keys
  /// Uploads that revised a key.
  case revisions
  /// Uploads by the age of their oldest key, in days.
  case oldestKey
  /// Uploads by the days since the onset of symptoms.
  case onset
  /// Uploads without a valid onset.
  case missingOnset
  /// Uploads by the age of their token or certificate, with the buckets of `StatisticsDay.tokenToUploadMinutes`.
  case tokenAge
  /// Uploads by the time until their file was written, with the buckets of `StatisticsDay.uploadToFileMinutes`. They
  /// follow from the uploads and the files.
  case fileWait
}

/// The sum of what the uploads of one transaction add to the statistics.
struct StatisticTally: Sendable {
  /// Buckets of `oldestKey`, in days.
  static let oldestKeyDays = 0...15
  /// Buckets of `onset`, in days.
  static let onsetDays = 0...29

  private var sums: [StatisticCount.Place: Int] = [:]

  /// Counts one accepted upload.
  mutating func add(_ facts: UploadStatistics, _ outcome: StoredUploadCounts) {
    guard facts.isCounted else { return }
    func count(_ kind: StatisticKind, _ bucket: Int = 0, _ number: Int = 1) {
      guard number > 0 else { return }
      sums[
        StatisticCount.Place(hour: facts.hour, issuer: facts.issuer, kind: kind, bucket: bucket),
        default: 0] += number
    }
    count(.uploads, facts.platform.rawValue)
    count(.keys, 0, outcome.inserted)
    if outcome.revised > 0 { count(.revisions) }
    if let days = facts.oldestKeyDays { count(.oldestKey, Self.clamp(days, Self.oldestKeyDays)) }
    if let days = facts.onsetDays {
      count(.onset, Self.clamp(days, Self.onsetDays))
    } else {
      count(.missingOnset)
    }
    let limits = StatisticsDay.tokenToUploadMinutes
    count(.tokenAge, limits.firstIndex { facts.tokenMinutes < $0 } ?? limits.count)
  }

  /// The sums, in a fixed order.
  var counts: [StatisticCount] {
    sums.map { StatisticCount(place: $0.key, count: $0.value) }.sorted {
      ($0.place.kind.rawValue, $0.place.bucket) < ($1.place.kind.rawValue, $1.place.bucket)
    }
  }

  private static func clamp(_ days: Int, _ range: ClosedRange<Int>) -> Int {
    min(max(days, range.lowerBound), range.upperBound)
  }
}

/// The counts that an authority may read at one moment, summed by day.
///
/// A day is shown if it has enough uploads and ended long enough ago. It is shown whole or not at all, and all
/// counts are rounded: an authority that makes nine uploads itself must not recognize the tenth.
struct StatisticsView: Sendable {
  private static let daySeconds: Int64 = 86_400

  let now: Date
  let configuration: StatisticsConfiguration
  let rounding: StatisticRounding

  /// The first day that is counted at all at `now`, in Unix seconds.
  static func firstDay(at now: Date) -> Int64 {
    day(of: now.unixSecond) - Int64(KeyServerLimit.statisticsSeconds)
  }

  /// The days of `counts`, all of `issuer`, that may be shown, oldest first.
  func days(
    of counts: [StatisticCount], issuer: String, files fileCounts: FileCounts
  ) -> [StatisticsDay] {
    let first = Self.firstDay(at: now)
    return Dictionary(grouping: counts) { Self.day(of: $0.place.hour) }
      .filter { $0.key >= first && isDelayOver($0.key) }
      .filter { Self.uploads(in: $0.value) >= configuration.uploadsMin }
      .sorted { $0.key < $1.key }
      .map { start, counts in
        let files = fileCounts.files(of: start, at: now)
        let all = counts + fileCounts.waits(of: counts, in: files)
        var day = Self.day(start, rounded(all, of: issuer, on: start))
        day.files = files.filter { fileCounts.shows($0.export) }.compactMap(padding)
        return day
      }
  }

  private func padding(of file: Batch) -> StatisticsDay.File? {
    // By the first name: two roundings of one number would reveal more of it.
    var first = file
    first.edition = 1
    guard let name = file.name, let firstName = first.name else { return nil }
    return StatisticsDay.File(
      name: KeyFileIndex.line(name, under: file.export),
      padding: rounding.rounded(padding: file.paddingCount, of: firstName))
  }

  private static func uploads(in counts: [StatisticCount]) -> Int {
    counts.reduce(0) { $0 + ($1.place.kind == .uploads ? $1.count : 0) }
  }

  /// The counts of one day, summed over its hours and rounded.
  private func rounded(
    _ counts: [StatisticCount], of issuer: String, on day: Int64
  ) -> [StatisticCount] {
    var sums: [StatisticCount.Place: Int] = [:]
    for count in counts {
      let place = count.place
      sums[
        .init(hour: day, issuer: issuer, kind: place.kind, bucket: place.bucket), default: 0] +=
        count.count
    }
    return sums.map { place, count in
      StatisticCount(
        place: place,
        count: rounding.rounded(count, place.kind, place.bucket, of: issuer, on: day))
    }
  }

  /// True if the day that began at `start` ended long enough ago.
  private func isDelayOver(_ start: Int64) -> Bool {
    start + Self.daySeconds + Int64(configuration.delaySeconds) <= now.unixSecond
  }

  /// The start of the day of `seconds`, both in Unix seconds.
  private static func day(of seconds: Int64) -> Int64 { seconds / daySeconds * daySeconds }

  private static func day(_ start: Int64, _ counts: [StatisticCount]) -> StatisticsDay {
    let date = Date(unixSecond: start)
    var day = StatisticsDay(day: date.formatted(.iso8601))
    for count in counts {
      let (bucket, number) = (count.place.bucket, count.count)
      switch count.place.kind {
      case .uploads: add(number, from: UploadPlatform(rawValue: bucket), to: &day)
      case .keys: day.totalTEKsPublished += number
      case .revisions: day.requestsWithRevisions += number
      case .missingOnset: day.requestsMissingOnsetDate += number
      case .oldestKey where day.tekAgeDistribution.indices.contains(bucket):
        day.tekAgeDistribution[bucket] += number
      case .onset where day.onsetToUploadDistribution.indices.contains(bucket):
        day.onsetToUploadDistribution[bucket] += number
      case .tokenAge where day.tokenToUploadDistribution.indices.contains(bucket):
        day.tokenToUploadDistribution[bucket] += number
      case .fileWait where day.uploadToFileDistribution.indices.contains(bucket):
        day.uploadToFileDistribution[bucket] += number
      case .oldestKey, .onset, .tokenAge, .fileWait: break
      }
    }
    return day
  }

  private static func add(
    _ number: Int, from platform: UploadPlatform?, to day: inout StatisticsDay
  ) {
    switch platform {
    case .android: day.publishRequests.android += number
    case .ios: day.publishRequests.ios += number
    case .unknown, nil: day.publishRequests.unknown += number
    }
  }
}

/// The counts of a day that follow from its key files: the times from uploads to their file, and padding.
///
/// The time of an upload is known to the hour, so it is taken as the middle of the hour, or of its part in the period.
struct FileCounts: Sendable {
  private static let hourSeconds: TimeInterval = 3_600
  private static let daySeconds: TimeInterval = 86_400

  /// The files of all exports.
  let files: [Batch]
  /// The export whose files count as the publication of an upload of any region.
  let root: String
  /// The moment until which this export is closed.
  let closedUntil: Date?
  /// The only exports whose padding is shown; nil for all but `hiddenRoots`.
  var shownRoots: Set<String>?
  /// The exports of the regions of realms.
  var hiddenRoots: Set<String> = []

  /// True if the padding of the files of an export is shown: with it the number of real keys is known.
  func shows(_ root: String) -> Bool {
    shownRoots?.contains(root) ?? !hiddenRoots.contains(root)
  }

  /// The files whose periods lie within the day that begins at `day`, in Unix seconds.
  ///
  /// The list is empty until all of them are written, and as soon as the first of them may have expired: counts that
  /// change file by file would reveal the uploads of one period.
  func files(of day: Int64, at now: Date) -> [Batch] {
    let start = Date(unixSecond: day)
    let end = start.addingTimeInterval(Self.daySeconds)
    guard let closedUntil, end <= closedUntil,
      now < start.addingTimeInterval(KeyServerLimit.retentionSeconds)
    else { return [] }
    let files = files.filter { start <= $0.start && $0.selection.end <= end }
    return files.allSatisfy { $0.writtenAt != nil } ? files : []
  }

  /// The uploads among `counts` by the time until their file was written. Those of an hour without a file are left out.
  func waits(of counts: [StatisticCount], in files: [Batch]) -> [StatisticCount] {
    let written = files.filter { $0.export == root }
    let limits = StatisticsDay.uploadToFileMinutes
    return counts.filter { $0.place.kind == .uploads }.compactMap { count in
      let times = written.compactMap { Self.wait(of: count.place.hour, until: $0) }
      guard !times.isEmpty else { return nil }
      let minutes = times.reduce(0, +) / Double(times.count) / 60
      return StatisticCount(
        place: .init(
          hour: count.place.hour, issuer: count.place.issuer, kind: .fileWait,
          bucket: limits.firstIndex { minutes < Double($0) } ?? limits.count),
        count: count.count)
    }
  }

  /// The seconds from the uploads of an hour until the file was written; nil if its period does not overlap the hour.
  private static func wait(of hour: Int64, until file: Batch) -> TimeInterval? {
    let start = Date(unixSecond: hour)
    let first = max(start, file.start)
    let last = min(start.addingTimeInterval(hourSeconds), file.selection.end)
    guard first < last, let writtenAt = file.writtenAt else { return nil }
    return writtenAt.timeIntervalSince(first.addingTimeInterval(last.timeIntervalSince(first) / 2))
  }
}

/// Rounds counts at random, so that a single upload changes the result with a probability of at most a tenth.
///
/// A count is rounded up or down to a multiple, with the probabilities that preserve the mean. The direction is
/// an HMAC of the count's identity, so it is the same for every request and cannot be averaged out.
struct StatisticRounding: Sendable, Redacted {
  private let key: SymmetricKey

  /// - Parameter key: The key of the HMAC.
  init(_ key: SymmetricKey) {
    self.key = key
  }

  /// Rounds the `count` of `issuer` on the day that begins at `day`.
  func rounded(
    _ count: Int, _ kind: StatisticKind, _ bucket: Int, of issuer: String, on day: Int64
  ) -> Int {
    rounded(
      count,
      to: kind == .keys ? KeyServerLimit.statisticsKeysMultiple : KeyServerLimit.statisticsMultiple,
      at: "\(day) \(kind.rawValue) \(bucket) \(issuer)")
  }

  /// Rounds the `padding` of a file. Files of two exports with the same keys have the same name and are rounded alike.
  func rounded(padding: Int, of name: KeyFileName) -> Int {
    rounded(padding, to: KeyServerLimit.statisticsKeysMultiple, at: "padding \(name.text)")
  }

  private func rounded(_ count: Int, to multiple: Int, at place: String) -> Int {
    let rest = count % multiple
    let code = HMAC<SHA256>.authenticationCode(for: Data(place.utf8), using: key)
    let choice = code.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } % UInt64(multiple)
    return count - rest + (choice < UInt64(rest) ? multiple : 0)
  }
}
