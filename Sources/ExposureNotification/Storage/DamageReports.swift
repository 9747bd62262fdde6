// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import Synchronization
import TextEncodings
import World

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
