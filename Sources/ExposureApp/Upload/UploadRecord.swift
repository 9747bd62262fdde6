// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Secrets
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
  /// The means to share the keys of the following days; `StoredState.followUp` has the user's decision.
  var followUp: FollowUpMeans?

  /// Keys and the time of their release.
  struct Released: Sendable, Equatable {
    let keys: [ReleasedKey]
    let date: Date

    /// Returns `true` if `now` is on the day of the release.
    func isValid(at now: Date) -> Bool { now.unixDay == date.unixDay }
  }

  /// Removes everything that has expired at all of `times`, but no unfinished upload with `keepsPending`, and the means
  /// to share the keys of the following days unless `keepsFollowUp`.
  mutating func removeOld(at times: [Date], keepsPending: Bool, keepsFollowUp: Bool) {
    if let pending, !keepsPending, !times.contains(where: pending.isRepeatable) {
      self.pending = nil
    }
    if let released, !times.contains(where: released.isValid) { self.released = nil }
    if let completed, times.allSatisfy(completed.isExpired) { self.completed = nil }
    // An unfinished upload has a permit before the user can decide.
    if !keepsFollowUp, pending == nil { followUp = nil }
  }
}

extension UploadRecord: Redacted {}

/// The sealed file of the upload record.
struct UploadStore {
  /// The time until which an unfinished upload can be continued.
  private(set) var pendingEnd: Date?
  /// True if the state may not have the last complete upload.
  private(set) var mayBeUnrecorded = true
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
    if record.completed != nil { mayBeUnrecorded = true }
    note(record)
  }

  /// Notes that the state has the last complete upload.
  mutating func noteRecorded() { mayBeUnrecorded = false }

  /// Removes everything that has expired at all of `times`.
  mutating func removeOld(at times: [Date], keepsPending: Bool, keepsFollowUp: Bool) throws {
    guard !isEmpty else { return }
    let record = try load()
    var next = record
    next.removeOld(at: times, keepsPending: keepsPending, keepsFollowUp: keepsFollowUp)
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

// The stored form of an upload record: its fields in order, each list and secret with its length before it.
extension UploadRecord {
  /// The version of the stored form; the first has nothing of the following days.
  private static let form: UInt64 = 2

  /// The bytes to store.
  var stored: ZeroingBytes {
    var text = SecretText()
    text.append(Self.form)
    text.append(pending) { $0.append($1) }
    text.append(released) { text, released in
      text.append(released.keys)
      text.append(released.date)
    }
    text.append(completed) { text, completed in
      text.append(completed.date)
      text.appendField(completed.salt)
      text.appendField(completed.code)
    }
    text.append(followUp) { text, followUp in
      text.appendField(followUp.permit)
      text.append(followUp.pending) { $0.append($1) }
    }
    return text.bytes()
  }

  /// Reads the stored form; `nil` if it is not one.
  init?(stored: ZeroingBytes) {
    var reader = SecretReader(stored)
    do {
      let form = try reader.number()
      guard (1...Self.form).contains(form) else { return nil }
      pending = try reader.optional { try PendingUpload(from: &$0) }
      released = try reader.optional { Released(keys: try $0.keys(), date: try $0.date()) }
      completed = try reader.optional {
        CompletedUpload(stored: try $0.date(), salt: try $0.field(), code: try $0.field())
      }
      if form > 1 {
        followUp = try reader.optional {
          FollowUpMeans(
            permit: try $0.field(), pending: try $0.optional { try PendingUpload(from: &$0) })
        }
      }
      guard reader.isAtEnd else { return nil }
    } catch {
      return nil
    }
  }
}

extension PendingUpload {
  fileprivate init(from reader: inout SecretReader) throws {
    let stored = try reader.field()
    let pin = PIN(stored: stored)
    guard pin != nil || stored.count == 0 else { throw SecretReader.Malformed() }
    let upload = PendingUpload(
      pin: pin, keys: try reader.keys(), hmacSecret: try reader.field(),
      isInteroperabilityEnabled: try reader.number() == 1, at: try reader.date())
    let token = try reader.optional { try $0.field() }
    let received = try reader.optional { try $0.date() }
    guard let token, let received else {
      self = upload
      return
    }
    self = upload.granted(token, at: received)
  }
}

extension SecretText {
  /// An upload without a PIN has an empty one.
  fileprivate mutating func append(_ pending: PendingUpload) {
    appendField(pending.pin?.bytes ?? ZeroingBytes(count: 0) { _ in })
    append(pending.keys)
    appendField(pending.hmacSecret)
    append(pending.isInteroperabilityEnabled ? 1 : 0)
    append(pending.begun)
    append(pending.token) { $0.appendField($1) }
    append(pending.tokenReceived) { $0.append($1) }
  }

  fileprivate mutating func append(_ date: Date) {
    append(date.timeIntervalSince1970.bitPattern)
  }

  fileprivate mutating func appendField(_ secret: ZeroingBytes) {
    append(UInt64(secret.count))
    append(secret)
  }

  fileprivate mutating func append(_ keys: [ReleasedKey]) {
    append(UInt64(keys.count))
    for key in keys {
      appendField(key.bytes)
      append(UInt64(key.rollingStartNumber))
      append(UInt64(key.rollingPeriod))
      append(UInt64(key.transmissionRisk))
    }
  }

  fileprivate mutating func append<Value>(
    _ value: Value?, _ append: (inout SecretText, Value) -> Void
  ) {
    self.append(value == nil ? 0 : 1 as UInt64)
    if let value { append(&self, value) }
  }
}

/// Reads the fields of a stored record.
private struct SecretReader {
  struct Malformed: Error {}

  private let bytes: ZeroingBytes
  private var position = 0

  init(_ bytes: ZeroingBytes) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func number() throws -> UInt64 {
    guard bytes.count - position >= 8 else { throw Malformed() }
    defer { position += 8 }
    return bytes.withUnsafeBytes { bytes in
      bytes[position..<position + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  mutating func date() throws -> Date {
    Date(timeIntervalSince1970: Double(bitPattern: try number()))
  }

  mutating func field() throws -> ZeroingBytes {
    let length = try number()
    guard length <= UInt64(bytes.count - position) else { throw Malformed() }
    defer { position += Int(length) }
    return bytes.copy(of: position..<position + Int(length))
  }

  mutating func keys() throws -> [ReleasedKey] {
    let count = try number()
    guard count <= UInt64(bytes.count) else { throw Malformed() }
    return try (0..<count).map { _ in
      let key = try field()
      guard let start = UInt32(exactly: try number()), let period = UInt32(exactly: try number()),
        let risk = Int(exactly: try number())
      else { throw Malformed() }
      return ReleasedKey(
        bytes: key, rollingStartNumber: start, rollingPeriod: period, transmissionRisk: risk)
    }
  }

  mutating func optional<Value>(_ read: (inout SecretReader) throws -> Value) throws -> Value? {
    try number() == 0 ? nil : try read(&self)
  }
}
