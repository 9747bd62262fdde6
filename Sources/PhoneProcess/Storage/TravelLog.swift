// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import Synchronization
import World

/// The regions that the owner has reported to the phone. It is the source of `travel`.
///
/// A phone process has no location; its owner or another program reports a region.
package final class TravelLog: TravelHistory {
  private struct Stay: Codable {
    let region: String
    let date: Date
  }

  private let file: PhoneFile<[Stay]>
  private let clock: any WallClock
  private let retention: PhoneRetention
  private let mutex = Mutex(())

  /// The log in `folder`.
  package init(
    in folder: PhoneFolder, key: SealingKey, clock: any WallClock,
    retention: PhoneRetention, randomness: any Randomness, logger: Logger
  ) {
    file = PhoneFile(
      at: folder.travel, key: key, purpose: "travel", clock: clock, retention: retention,
      randomness: randomness, logger: logger)
    self.clock = clock
    self.retention = retention
  }

  /// Records that the owner is in `region` now.
  ///
  /// - Throws: `SealedStorageError` if it cannot be stored.
  package func record(_ region: String) throws {
    let now = clock.now
    try mutex.withLock { _ in
      let stays = try stays().filter { $0.region != region } + [Stay(region: region, date: now)]
      try file.replace(with: Array(stays.suffix(TravelLimit.staysMax)))
    }
  }

  /// Removes the stays of more than fourteen days ago from the disk.
  ///
  /// - Throws: `SealedStorageError` if the disk fails.
  func removeOld() throws {
    try mutex.withLock { _ in
      let (stored, stays) = (try file.read() ?? [], try stays())
      if stays.count < stored.count { try file.replace(with: stays) }
    }
  }

  /// Removes all stays.
  package func removeAll() throws {
    try mutex.withLock { _ in try file.remove() }
  }

  /// The time at which damaged stays were found and set aside; `nil` if none were in fourteen days.
  package var damageFound: Date? { mutex.withLock { _ in file.damageFound() } }

  /// The latest stay in each region, oldest first.
  package func regions() throws -> [(region: String, date: Date)] {
    try mutex.withLock { _ in try stays().map { ($0.region, $0.date) } }
  }

  package func hasLeft(_ region: String, since date: Date) async throws -> Bool? {
    let stays = try regions().filter { $0.date >= date }
    return stays.isEmpty ? nil : stays.contains { !Self.isInside($0.region, region) }
  }

  /// A stay in `US-CA` is one in `US`.
  private static func isInside(_ stay: String, _ region: String) -> Bool {
    stay == region || stay.hasPrefix(region + "-")
  }

  /// The stays of the last fourteen days.
  private func stays() throws -> [Stay] {
    retention.kept(try file.read() ?? [], by: \.date, at: clock.now)
  }
}

/// Limits of the travel log.
package enum TravelLimit {
  /// The number of stored regions.
  package static let staysMax = 100

  /// Returns `true` for a code of ISO 3166-1 or 3166-2: `PL`, `US-CA`.
  package static func isRegion(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Z]{2}(-[A-Z0-9]{1,3})?/) != nil
  }
}
