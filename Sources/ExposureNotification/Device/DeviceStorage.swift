// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import Secrets
import World

// The loss of stored data and its recovery.
extension Device {
  /// The data that was lost within the last 14 days because files were damaged, oldest first.
  ///
  /// Show it to the user. `.matches` disappears when the app has passed the key files again, the others
  /// after 14 days or with `removeAllData()`.
  public var storageDamage: [StorageDamage] { reports.all }

  /// Marks all losses as told to the user.
  ///
  /// Without it the next request for keys fails once if own keys were lost.
  ///
  /// - Throws: `ENError` if that could not be stored.
  public func acknowledgeStorageDamage() async throws {
    try await changeStorage { try self.reports.acknowledge() }
  }

  /// Tells the device that the app has passed all key files of the last 14 days that still exist.
  ///
  /// After matches were lost, `detectExposures` fails with `.dataInaccessible` until each of the earlier
  /// files has been passed again. Call this if the server has removed some of them.
  ///
  /// - Throws: `ENError` if that could not be stored.
  public func confirmKeyFilesPassed() async throws {
    try await changeStorage { try await self.detectionStore.confirmAllPassed() }
  }

  /// Counts the stored keys and sightings; it reads all of them.
  ///
  /// - Throws: `ENError`, or an error of the storage.
  package func storedDataCounts() async throws -> StoredDataCounts {
    let keys = try await beacons.keyCount()
    let sightings = try await contacts.received().sightings
    let days = Dictionary(grouping: sightings) { sighting in
      let seconds = sighting.time.timeIntervalSince1970
      return Date(timeIntervalSince1970: (seconds / Day.seconds).rounded(.down) * Day.seconds)
    }
    return StoredDataCounts(ownKeys: keys, sightings: days.mapValues(\.count))
  }

  /// The received beacons of the last 14 days that were not stored, because they exceeded a limit. Encounters may be
  /// missing then.
  ///
  /// - Throws: `ENError` if the stored contacts cannot be read.
  package func droppedSightings() async throws(ENError) -> Int {
    do throws(SealedStorageError) {
      return try await contacts.droppedCount()
    } catch {
      throw ENError(error)
    }
  }

  /// The reason why the user's decisions cannot be read; nil if they can. Then the device is neither on nor off.
  package var consentFailure: SealedStorageError? { state.failure }

  /// The data to keep at `now`, the time of the device's clock.
  package func retentionPeriod(at now: Date) -> RetentionPeriod { retention.period(at: now) }

  /// Tells the device whether its clock is wrong. While it is, old data is removed by the time that has passed.
  ///
  /// The device does not store it; call it again after a restart.
  ///
  /// - Parameters:
  ///   - isWrong: True if the clock is wrong.
  ///   - secondsAhead: The seconds by which it is ahead; nil if the difference is not known.
  public func setClock(isWrong: Bool, secondsAhead: TimeInterval?) {
    retention.setClockError(isWrong ? ClockError(secondsAhead: secondsAhead) : nil)
  }

  /// Makes a sequence that yields after changes of the status, and of the reason why it is not known.
  package func makeStatusChanges() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let changes = state.changes
    let id = changes.add { continuation.yield() }
    continuation.onTermination = { _ in changes.remove(id) }
    return stream
  }

  private func changeStorage(_ change: @escaping @Sendable () async throws -> Void) async throws {
    try await mutex.withLock {
      do {
        try await change()
      } catch let error as SealedStorageError {
        throw ENError(error)
      }
    }
  }
}

/// The amounts of data that a device stores about its owner's encounters.
package struct StoredDataCounts: Hashable, Sendable {
  /// The own keys.
  package let ownKeys: Int
  /// The received beacons by the start of their day, 00:00 UTC.
  package let sightings: [Date: Int]
}

// The check that a sealing key belongs to a folder.
extension Device {
  /// Returns `true` if `sealingKey` decrypts the data in `folder`, or if there is no data yet.
  ///
  /// Call this before you create a device: with another key all files look damaged, and the device would set
  /// them aside. On success a small check file is stored, so that later calls read only that file. On failure
  /// nothing changes.
  ///
  /// - Throws: `SealedStorageError.disk` if the files cannot be read.
  public static func keyMatches(
    folder: URL, sealingKey: SealingKey, randomness: any Randomness
  ) throws(SealedStorageError) -> Bool {
    func file(_ name: String) -> SealedFile {
      SealedFile(
        url: folder.appendingPathComponent(name), key: sealingKey, purpose: name,
        randomness: randomness)
    }
    let check = file(keyCheckName)
    let own = try state(of: check)
    if own == .readable { return true }
    var others: [SealedState] = []
    for name in sealedNames { others.append(try state(of: file(name))) }
    let keys = SealedDays(
      folder: folder.appendingPathComponent("keys"), key: sealingKey, purpose: "keys",
      randomness: randomness)
    for day in try keys.days() { others.append(try state(of: day, in: keys)) }
    let isNew = own == .missing && !others.contains(.damaged)
    guard isNew || others.contains(.readable) else { return false }
    // A failed write is ignored, so that a phone with a full disk still starts.
    try? check.replace(with: Data(keyCheckName.utf8))
    return true
  }

  private static let keyCheckName = "key"
  private static let sealedNames = ["permission", "clock", "damage", "detections", "matches"]

  private enum SealedState {
    case missing, damaged, readable
  }

  private static func state(of file: SealedFile) throws(SealedStorageError) -> SealedState {
    do throws(SealedStorageError) {
      guard var content = try file.read() else { return .missing }
      content.zero()
      return .readable
    } catch {
      guard error == .damaged else { throw error }
      return .damaged
    }
  }

  private static func state(
    of day: UInt32, in keys: SealedDays
  ) throws(SealedStorageError) -> SealedState {
    do throws(SealedStorageError) {
      guard var content = try keys.read(day) else { return .missing }
      content.zero()
      return .readable
    } catch {
      guard error == .damaged else { throw error }
      return .damaged
    }
  }
}
