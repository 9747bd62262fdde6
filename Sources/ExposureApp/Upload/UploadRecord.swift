import Foundation
import SealedStorage
import Secrets
import VerificationAPI
import World

/// Everything about uploads that survives a restart. It has a file of its own, because it contains secrets
/// that are in memory only during an upload.
struct UploadRecord: Sendable, Equatable {
  /// An upload that was started and has no final response yet.
  var pending: PendingUpload?
  /// The keys that the framework has released today. Each release shortens today's key, so another PIN on the
  /// same day uses the same keys.
  var released: Released?
  /// The last complete upload.
  var completed: CompletedUpload?

  /// Keys and the time of their release.
  struct Released: Sendable, Equatable {
    let keys: [ReleasedKey]
    let date: Date

    /// Returns `true` if `now` is on the day of the release.
    func isValid(at now: Date) -> Bool {
      let days = [date, now].map {
        ($0.timeIntervalSince1970 / RemovalRule.daySeconds).rounded(.down)
      }
      return days[0] == days[1]
    }
  }

  /// Removes everything that has expired at all of `times`.
  mutating func removeOld(at times: [Date]) {
    if let pending, !times.contains(where: pending.isRepeatable) { self.pending = nil }
    if let released, !times.contains(where: released.isValid) { self.released = nil }
    if let completed, times.allSatisfy(completed.isExpired) { self.completed = nil }
  }
}

extension UploadRecord: Redacted {}

/// The sealed file of the upload record.
struct UploadStore {
  /// The time until which an unfinished upload can be continued.
  private(set) var pendingEnd: Date?
  /// True if the file is known to be empty.
  private var isEmpty = false

  private var hasDamage = false

  private let file: SealedFile?

  /// The store in `folder`; `key` is `nil` if the key is lost.
  init(folder: URL, key: SealingKey?, randomness: any Randomness) {
    file = key.map {
      SealedFile(
        url: folder.appendingPathComponent("upload.sealed"), key: $0, purpose: "app upload",
        randomness: randomness)
    }
  }

  /// Reads the record.
  ///
  /// - Throws: `.damaged` if the file is damaged. It is then set aside, and the next call returns an empty record.
  mutating func load() throws(SealedStorageError) -> UploadRecord {
    do throws(SealedStorageError) {
      guard let file, var content = try file.read() else {
        note(UploadRecord())
        return UploadRecord()
      }
      let bytes = ZeroingBytes(moving: &content)
      guard let record = UploadRecord(stored: bytes) else { throw .damaged }
      note(record)
      return record
    } catch {
      if error == .damaged {
        try file?.setAside()
        hasDamage = true
      }
      throw error
    }
  }

  /// Returns `true` if a damaged file was set aside since the last call.
  mutating func takeDamage() -> Bool {
    defer { hasDamage = false }
    return hasDamage
  }

  /// Replaces the record.
  mutating func save(_ record: UploadRecord) throws(StorageFailure) {
    guard let file else { throw .notReady(.keyMissing) }
    do throws(SealedStorageError) {
      try file.replace(with: record.stored.data)
    } catch {
      throw StorageFailure(error)
    }
    note(record)
  }

  /// Removes everything that has expired at all of `times`.
  mutating func removeOld(at times: [Date]) throws {
    guard !isEmpty else { return }
    let record = try load()
    var next = record
    next.removeOld(at: times)
    if next != record { try save(next) }
  }

  /// Forgets a file that was removed.
  mutating func reset() { note(UploadRecord()) }

  private mutating func note(_ record: UploadRecord) {
    isEmpty = record == UploadRecord()
    pendingEnd = record.pending.map {
      ($0.tokenReceived ?? $0.begun).addingTimeInterval(RemovalRule.pendingUploadSeconds)
    }
  }
}
