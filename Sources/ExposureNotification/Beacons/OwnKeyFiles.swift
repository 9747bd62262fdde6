import ExposureKeys
import Foundation
import SealedStorage
import Secrets
import World

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
