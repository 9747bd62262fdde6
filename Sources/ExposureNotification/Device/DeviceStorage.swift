import Foundation
import SealedStorage
import World

// The loss of stored data, and the ways to rebuild it.
extension Device {
  /// The data that was lost within the last 14 days because files were damaged, oldest first.
  ///
  /// Show it to the user. `.matches` disappears when the app has passed the key files again, the others
  /// after 14 days or with `removeAllData()`.
  public var storageDamage: [StorageDamage] { reports.all }

  /// `storageDamage` now and after each change; only the latest list waits for a slow reader.
  public var storageDamageUpdates: AsyncStream<[StorageDamage]> { reports.updates() }

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
