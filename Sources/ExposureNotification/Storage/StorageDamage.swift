// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import Synchronization
import TextEncodings
import World

/// Data that the device lost because a file was damaged. The file is set aside, and the device goes on
/// with the rest.
///
/// `Device.storageDamage` lists the losses of the last 14 days, so that the app can tell the user and
/// rebuild what can be rebuilt.
public struct StorageDamage: Hashable, Codable, Sendable {
  /// The kind of lost data.
  public let part: StoredData
  /// The start of the UTC day of the lost data; nil if it belongs to no day.
  public let day: Date?
  /// The time when the damage was found.
  public let found: Date
  /// True if the app has been told: by `Device.acknowledgeStorageDamage()`, or by the first request for
  /// keys after own keys were lost, which fails.
  public let isAcknowledged: Bool

  init(_ part: StoredData, day: Day?, found: Date) {
    self.part = part
    self.day = day?.midnight
    self.found = found
    isAcknowledged = false
  }

  private init(acknowledging damage: StorageDamage) {
    part = damage.part
    day = damage.day
    found = damage.found
    isAcknowledged = true
  }

  /// The same damage after the app has been told.
  var acknowledged: StorageDamage { StorageDamage(acknowledging: self) }
}

extension StorageDamage: CustomStringConvertible {
  /// The loss in one sentence without data of the user.
  public var description: String {
    switch part {
    case .consent: "The settings were damaged: turn exposure notification on again."
    case .ownKeys: "The phone's keys\(ofDay) were damaged: they cannot be shared any more."
    case .contacts: "Encounters\(ofDay) were damaged: exposures of that day may be missing."
    case .matches: "Earlier matches were damaged: check the key files of the last 14 days again."
    case .detectionLimits: "The count of detections was damaged: it has started again."
    case .retentionClock: "The stored trusted time was damaged: old data stays for another day."
    case .reports: "The list of damaged data was damaged: check the log for earlier damage."
    }
  }

  private var ofDay: String {
    day.map { " of \($0.formatted(.iso8601.year().month().day()))" } ?? ""
  }
}

/// The kinds of data that a device stores.
public enum StoredData: String, Hashable, Codable, Sendable, CaseIterable {
  /// The user's decisions. Exposure notification is off until the user is asked again.
  case consent
  /// The device's own keys of a day. They cannot be shared any more.
  case ownKeys
  /// Some or all sightings of a day. Exposures of that day may be missing.
  case contacts
  /// The matches of earlier detections, API version 2. `detectExposures` fails with
  /// `ENError.dataInaccessible` until the app has passed the files of the last 14 days again.
  case matches
  /// The calls and files that limit detections. Counting has started again.
  case detectionLimits
  /// The time by which old data is removed. Removal pauses for a day.
  case retentionClock
  /// Earlier reports of damage.
  case reports
}

/// The losses of the last 14 days, stored before a damaged file is renamed, so that none is forgotten.
final class DamageReports: Sendable {
  private struct State {
    var damage: [StorageDamage] = []
    /// False until the stored reports were read; until then they must not be replaced.
    var isLoaded = false
    var isSaved = true
  }

  private let file: SealedFile
  private let clock: any WallClock
  private let logger: Logger
  private let state = Mutex(State())

  init(file: SealedFile, clock: any WallClock, logger: Logger) {
    self.file = file
    self.clock = clock
    self.logger = logger
    state.withLock { state in
      do throws(SealedStorageError) {
        try load(&state)
        try save(&state)
      } catch {
        // The next beat retries, and `all` has what was found since the start.
      }
    }
  }

  /// All losses, oldest first.
  var all: [StorageDamage] { state.withLock { $0.damage } }

  func contains(_ part: StoredData) -> Bool { all.contains { $0.part == part } }

  /// Reports that `file` is damaged and renames it; in this order, so that a kill between the two does
  /// not hide the loss. If the report cannot be stored, the file stays and is found again.
  func setAside(_ file: SealedFile, _ part: StoredData) {
    setAside(part, day: nil) { () throws(SealedStorageError) in try file.setAside() }
  }

  /// The same for data of one day, which `rename` renames.
  func setAside(
    _ part: StoredData, day: Day?, rename: () throws(SealedStorageError) -> Void
  ) {
    do throws(SealedStorageError) {
      try record(part, day: day)
      try rename()
    } catch {
      logger.warning("setting damaged \(part.rawValue) aside failed: \(error)")
    }
  }

  /// Adds a loss. If it cannot be stored it is listed nevertheless, and the next beat retries.
  func record(_ part: StoredData, day: Day? = nil) throws(SealedStorageError) {
    let damage = StorageDamage(part, day: day, found: clock.now)
    logger.error("\(damage)")
    try change { list in
      list.removeAll { $0.part == part && $0.day == damage.day }
      list.append(damage)
    }
  }

  /// Removes the losses of `part`, which are rebuilt.
  func resolve(_ part: StoredData) throws(SealedStorageError) {
    try change { $0.removeAll { $0.part == part } }
  }

  /// Marks the losses of `part`, or all, as told to the app.
  func acknowledge(_ part: StoredData? = nil) throws(SealedStorageError) {
    try change { list in
      for index in list.indices where part == nil || list[index].part == part {
        list[index] = list[index].acknowledged
      }
    }
  }

  func removeAll() throws(SealedStorageError) {
    try change { $0 = [] }
  }

  /// Removes the losses that are too old to matter, and stores those that could not be stored before.
  func prune(keeping period: RetentionPeriod) {
    do throws(SealedStorageError) {
      try change { $0.removeAll { !period.keeps(since: $0.found) } }
    } catch {
      logger.warning("storing the list of damaged data failed: \(error); will try again")
    }
  }
}

extension DamageReports {
  private func change(
    _ change: (inout [StorageDamage]) -> Void
  ) throws(SealedStorageError) {
    try state.withLock { state throws(SealedStorageError) in
      let before = state.damage
      change(&state.damage)
      if state.damage != before { state.isSaved = false }
      try save(&state)
    }
  }

  private func save(_ state: inout State) throws(SealedStorageError) {
    guard !state.isSaved else { return }
    try load(&state)
    guard let content = JSONEncoder().encodeIfPossible(state.damage) else { throw .damaged }
    try file.replace(with: content)
    state.isSaved = true
  }

  /// Adds the stored losses to those that were found since the start.
  private func load(_ state: inout State) throws(SealedStorageError) {
    guard !state.isLoaded else { return }
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return state.isLoaded = true }
      guard let stored = JSONDecoder().decodeIfValid([StorageDamage].self, from: content) else {
        throw .damaged
      }
      state.damage = stored + state.damage
    } catch {
      logger.error("reading the list of damaged data failed: \(error)")
      guard error == .damaged else { throw error }
      // If it cannot be stored it is listed nevertheless, and the next beat retries.
      if !state.damage.contains(where: { $0.part == .reports }) {
        state.damage.append(StorageDamage(.reports, day: nil, found: clock.now))
      }
      state.isSaved = false
      guard let content = JSONEncoder().encodeIfPossible(state.damage) else { throw .damaged }
      try file.setAside(replacingWith: content)
      state.isSaved = true
    }
    state.isLoaded = true
  }
}
