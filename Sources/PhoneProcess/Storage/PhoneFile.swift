// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Logging
import SealedStorage
import TextEncodings
import World

/// An encrypted JSON file of the phone itself. A damaged one is set aside and reported for fourteen days.
struct PhoneFile<Content: Codable>: Sendable {
  private let file: SealedFile
  private let url: URL
  private let clock: any WallClock
  private let retention: PhoneRetention
  private let logger: Logger

  init(
    at url: URL, key: SealingKey, purpose: String, clock: any WallClock,
    retention: PhoneRetention, randomness: any Randomness, logger: Logger
  ) {
    file = SealedFile(url: url, key: key, purpose: purpose, randomness: randomness)
    self.url = url
    self.clock = clock
    self.retention = retention
    self.logger = logger
  }

  /// The content; `nil` if there is none. A damaged file is set aside, and then there is none.
  ///
  /// - Throws: `SealedStorageError` if the disk cannot be read.
  func read() throws(SealedStorageError) -> Content? {
    do throws(SealedStorageError) {
      guard let bytes = try file.read() else { return nil }
      guard let content = JSONDecoder().decodeIfValid(Content.self, from: bytes) else {
        throw .damaged
      }
      return content
    } catch {
      guard error == .damaged else { throw error }
      logger.warning("\(url.lastPathComponent) is damaged; it is set aside")
      // The time is stored first: after a crash in between, the damage is detected again. If it cannot be stored, the
      // damage has the time of the last change.
      try? FileManager.default.setAttributes([.modificationDate: clock.now], ofItemAtPath: url.path)
      try file.setAside()
      return nil
    }
  }

  /// Replaces the content.
  ///
  /// - Throws: `SealedStorageError` if it cannot be stored; then the old content is unchanged.
  func replace(with content: Content) throws {
    try file.replace(with: JSONEncoder().encode(content))
  }

  /// Removes the file, also a damaged one that was set aside.
  func remove() throws(SealedStorageError) {
    try file.remove()
  }

  /// The time at which a damaged file was set aside, in whole seconds; `nil` if none is left. Reads the file first.
  func damageFound() -> Date? {
    // Reading sets a damaged file aside. A disk error is not damage.
    _ = try? read()
    let attributes = FileManager.default.attributes(of: file.aside)
    guard let found = attributes?[.modificationDate] as? Date else { return nil }
    let now = clock.now
    let period = RetentionPeriod(times: retention.period(at: now).times(orNow: now))
    guard period.keeps(found, forSeconds: RemovalRule.exposureSeconds) else {
      FileManager.default.removeUnneeded(file.aside)
      return nil
    }
    return Date(unixSecond: found.unixSecond)
  }
}

extension SealedFile {
  /// The content as a value; nil if there is no file, or it is damaged or cannot be read. For data that a phone can do
  /// without.
  func readableJSON<Value: Decodable>(_ type: Value.Type) -> Value? {
    // The phone begins with an empty value, and reports a failed disk when it stores the next one.
    (try? read()).flatMap { JSONDecoder().decodeIfValid(type, from: $0) }
  }
}
