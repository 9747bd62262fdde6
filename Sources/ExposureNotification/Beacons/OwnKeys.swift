// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import Secrets
import World

/// The device's own Temporary Exposure Keys: one per day, more if one was released early.
///
/// A released key is public, so it is never sent again, even if the clock is set back. The keys of any 15
/// successive days fit the limits of an upload: at most three of one day, and at most thirty in total.
struct OwnKeys: Equatable, Sendable {
  /// Oldest first. Two cover the same interval only if they have the same start and one is released.
  private(set) var keys: [OwnKey] = []

  init(_ keys: [OwnKey] = []) {
    self.keys = keys.sorted { $0.key.rollingStart < $1.key.rollingStart }
  }

  /// The key to send in `interval`.
  func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    keys.last { !$0.isReleased && $0.key.covers(interval) }?.key
  }

  /// The days that have keys.
  var days: Set<Day> { Set(keys.map(\.day)) }

  func keys(of day: Day) -> [OwnKey] { keys.filter { $0.day == day } }

  mutating func replace(_ day: Day, with other: [OwnKey]) {
    self = OwnKeys(keys.filter { $0.day != day } + other)
  }

  /// Adds a key of `bytes` for the part of the day around `interval` that no other key covers.
  ///
  /// If a released key covers it, because the clock was set back, the new key gets the same start: a
  /// server accepts keys that overlap only then. Nothing is added beyond the limits of a day.
  mutating func add(_ bytes: [UInt8], at interval: IntervalNumber) {
    guard key(at: interval) == nil, mayAdd(on: Day(of: interval.date)),
      let midnight = interval.startOfDay.advanced(by: IntervalNumber.perDay)
    else { return }
    let released = keys.last { $0.key.covers(interval) }?.key.rollingStart
    let before = keys.map(\.key.rollingEnd).filter { $0 <= interval }.max() ?? interval.startOfDay
    let start = released ?? max(before, interval.startOfDay)
    let next = keys.map(\.key.rollingStart).filter { $0 > interval }.min() ?? midnight
    let period = min(next, midnight).rawValue - start.rawValue
    if let key = TemporaryExposureKey(bytes: bytes, rollingStart: start, rollingPeriod: period) {
      self = OwnKeys(keys + [OwnKey(key: key)])
    }
  }

  /// Returns the keys of the retention period that are no longer used, and marks them as released.
  ///
  /// With `includingToday` the current key is shortened to end before `interval` and returned as well.
  /// It stays in use if there may not be another key for the rest of the day.
  mutating func release(at interval: IntervalNumber, includingToday: Bool) -> [TemporaryExposureKey]
  {
    let today = Day(of: interval.date)
    if includingToday, mayAdd(on: today),
      let current = keys.lastIndex(where: { !$0.isReleased && $0.key.covers(interval) }),
      // A key that starts in this interval cannot be shortened; it stays.
      let short = keys[current].key.shortened(toEndBefore: interval)
    {
      keys[current].key = short
    }
    let released = keys.indices.filter {
      keys[$0].key.rollingEnd <= interval && keys[$0].day.isKept(on: today)
    }
    for index in released { keys[index].isReleased = true }
    return released.map { keys[$0].key }
  }

  /// Removes the keys of days that are not kept.
  mutating func prune(keeping period: RetentionPeriod) {
    keys.removeAll { !period.keeps($0.day) }
  }

  /// Returns `true` for the first key of a day. Further keys are limited to the keys that fit into an upload
  /// beyond one key per day.
  private func mayAdd(on day: Day) -> Bool {
    let count = keys(of: day).count
    guard count > 0 else { return true }
    let reserved = Int(DeviceLimit.retentionDays) + 1
    return count < OwnKeyLimit.perDay && keys.count - days.count < OwnKeyLimit.perRelease - reserved
  }
}

/// A key of the device.
struct OwnKey: Hashable, Sendable, Redacted {
  var key: TemporaryExposureKey
  /// True if an app got the key.
  var isReleased = false

  /// The day in which the key starts; it ends on the same day.
  var day: Day { Day(of: key.rollingStart.date) }
}

/// The time of one of the user's own keys, without its bytes.
package struct KeyPeriod: Hashable, Sendable {
  /// The first ten-minute interval of the key.
  package let start: UInt32
  /// The number of its intervals.
  package let period: UInt32
}

/// The number of own keys, so that every release fits into one upload.
package enum OwnKeyLimit {
  /// Keys of one UTC day. Key servers accept three with the same start.
  package static let perDay = 3
  /// Keys of one release. Key servers accept thirty in an upload.
  package static let perRelease = 30
}

/// The device's own keys on the disk: one sealed file for each UTC day, so that damage costs one day.
struct OwnKeyFiles: Sendable {
  private let files: SealedDays
  private let reports: DamageReports

  init(files: SealedDays, reports: DamageReports) {
    self.files = files
    self.reports = reports
  }

  /// The readable keys. Damaged days are reported and set aside.
  ///
  /// - Throws: `SealedStorageError` if the disk cannot be read; then nothing is known about the keys.
  func read() throws(SealedStorageError) -> OwnKeys {
    if try files.restoreSizes() { try reports.record(.ownKeys) }
    var keys: [OwnKey] = []
    for day in try files.days() {
      do throws(SealedStorageError) {
        keys += try self.keys(of: day)
      } catch {
        guard error == .damaged else { throw error }
        reports.setAside(.ownKeys, day: Day(number: day)) { () throws(SealedStorageError) in
          try files.setAside(day)
        }
      }
    }
    return OwnKeys(keys)
  }

  private func keys(of day: UInt32) throws(SealedStorageError) -> [OwnKey] {
    guard var content = try files.read(day) else { return [] }
    defer { content.zero() }
    return try StoredKeys.keys(in: content, of: day)
  }

  /// Replaces the keys of `day`.
  func replace(_ day: Day, with keys: [OwnKey]) throws(SealedStorageError) {
    guard !keys.isEmpty else { return try files.removeDays { $0 == day.number } }
    try withZeroedOnExit(StoredKeys.content(of: keys)) { content throws(SealedStorageError) in
      try files.replace(day.number, with: content)
    }
  }

  /// Removes the files of days that are not kept, damaged ones too.
  func prune(keeping period: RetentionPeriod) throws(SealedStorageError) {
    try files.removeDays { !period.keeps(Day(number: $0)) }
  }

  func removeAll() throws(SealedStorageError) {
    try files.removeAll()
  }
}

/// The content of one day's file.
///
/// Version 1: the version, then for each key its 16 bytes, first interval, number of intervals (32 bits
/// each, big endian) and 1 if it was released. Not JSON, whose copies of the keys could not be overwritten.
enum StoredKeys {
  static let keyBytes = 25
  private static let version: UInt8 = 1

  static func content(of keys: [OwnKey]) -> Data {
    // The final size, so that the memory is never moved.
    var content = Data(capacity: 1 + keys.count * keyBytes)
    content.append(version)
    for own in keys {
      withZeroedOnExit(own.key.secretBytes) { content.append(contentsOf: $0) }
      append(own.key.rollingStart.rawValue, to: &content)
      append(own.key.rollingPeriod, to: &content)
      content.append(own.isReleased ? 1 : 0)
    }
    return content
  }

  /// - Throws: `.damaged` if the content is not of this format or a key is of another day.
  static func keys(in content: Data, of day: UInt32) throws(SealedStorageError) -> [OwnKey] {
    guard content.first == version, content.count % keyBytes == 1 else { throw .damaged }
    var keys: [OwnKey] = []
    for start in stride(from: content.startIndex + 1, to: content.endIndex, by: keyBytes) {
      guard let key = key(in: content[start..<start + keyBytes]), key.day.number == day else {
        throw .damaged
      }
      keys.append(key)
    }
    return keys
  }

  private static func key(in record: Data) -> OwnKey? {
    let start = record.startIndex
    return TemporaryExposureKey(
      bytes: record.prefix(TemporaryExposureKey.byteCount),
      rollingStart: IntervalNumber(rawValue: number(in: record[(start + 16)..<(start + 20)])),
      rollingPeriod: number(in: record[(start + 20)..<(start + 24)])
    ).map { OwnKey(key: $0, isReleased: record[start + 24] != 0) }
  }

  private static func append(_ number: UInt32, to content: inout Data) {
    withUnsafeBytes(of: number.bigEndian) { content.append(contentsOf: $0) }
  }

  private static func number(in bytes: Data) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
