// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import TextEncodings
import World

/// The audit log in the database.
///
/// An action that changes the console's own data is recorded in the same transaction. An action of another server is
/// recorded before it is carried out, so that no action lacks an entry.
struct AuditLog: Sendable {
  let database: ConsoleDatabase
  let clock: any WallClock
  /// The length of a field, in bytes. Longer ones are cut.
  let fieldBytesMax: Int

  /// Records an action.
  func append(_ event: AuditEvent) async throws {
    let now = clock.now.unixSecond
    try await database.write { try append(event, at: now, in: $0) }
  }

  /// Records an action in the transaction that carries it out.
  func append(_ event: AuditEvent, at now: Int64, in db: Database) throws {
    let last = try Row.fetchOne(
      db, sql: "SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
    let sequence: Int64 = last?["sequence"] ?? 0
    let previous: Data? = last?["hash"]
    let entry = AuditEntry(
      AuditEvent(
        cut(event.actor), event.action, cut(event.subject), detail: cut(event.detail)),
      sequence: sequence + 1, time: now, after: previous?.hexadecimal ?? AuditEntry.zeroHash)
    try db.execute(
      sql: """
        INSERT INTO audit (sequence, time, actor, action, subject, detail, previous_hash, hash)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        entry.sequence, entry.time, entry.actor, entry.action, entry.subject, entry.detail,
        Data(hexadecimal: entry.previousHash), Data(hexadecimal: entry.hash),
      ])
  }

  /// The newest entries, newest first; those before the entry `sequence` if there is one.
  func newest(_ count: Int, before sequence: Int64? = nil) async throws -> [AuditEntry] {
    try await database.read { db in
      try Row.fetchAll(
        db, sql: "SELECT * FROM audit WHERE sequence < ? ORDER BY sequence DESC LIMIT ?",
        arguments: [sequence ?? .max, count]
      ).map(AuditEntry.init)
    }
  }

  /// The entries that follow the entry `sequence`, oldest first.
  func entries(after sequence: Int64, _ count: Int) async throws -> [AuditEntry] {
    try await database.read { db in
      try Row.fetchAll(
        db, sql: "SELECT * FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?",
        arguments: [sequence, count]
      ).map(AuditEntry.init)
    }
  }

  /// Passes all entries to `body`, oldest first, and verifies their chain.
  @discardableResult
  func forEach(
    atOnce count: Int, _ body: (AuditEntry) async throws -> Void = { _ in }
  ) async throws -> AuditChain {
    var chain = AuditChain()
    var sequence: Int64 = 0
    while true {
      let page = try await entries(after: sequence, count)
      for entry in page {
        chain.append(entry)
        try await body(entry)
      }
      guard page.count == count, let last = page.last else { return chain }
      sequence = last.sequence
    }
  }

  private func cut(_ text: String) -> String {
    guard text.utf8.count > fieldBytesMax else { return text }
    return String(decoding: text.utf8.prefix(fieldBytesMax), as: UTF8.self)
  }
}

/// The actions that are recorded. The raw values are stored.
package enum AuditAction: String, CaseIterable, Sendable {
  case signedIn = "session.started"
  case signInFailed = "session.refused"
  case nameLocked = "session.locked"
  case signedOut = "session.ended"
  case accountAdded = "account.added"
  case accountDisabled = "account.disabled"
  case accountEnabled = "account.enabled"
  case linkMade = "account.link-made"
  case credentialsSet = "account.credentials-set"
  case passkeyAdded = "passkey.added"
  case passkeyRemoved = "passkey.removed"
  case codeIssued = "code.issued"
  case batchIssued = "code.batch-issued"
  case codeExpired = "code.expired"
  case codeLookedUp = "code.looked-up"
  case proposed = "configuration.proposed"
  case approved = "configuration.approved"
  case rejected = "configuration.rejected"
  case paused = "phones.paused"
  case resumed = "phones.resumed"
  case withdrawn = "file.withdrawn"
  case restored = "file.restored"
  case signingKeyRotated = "signing-key.rotated"
  case apiKeyAdded = "api-key.added"
  case apiKeyRevoked = "api-key.revoked"
  case authorityAdded = "authority.added"
  case authorityRemoved = "authority.removed"
  case authorityKeyWithdrawn = "authority.key-withdrawn"
  case appAdded = "app.added"
  case appRemoved = "app.removed"
  case auditExported = "audit.exported"
  case failed = "action.failed"
}

/// An entry of the audit log, chained to the entry before it by its hash.
package struct AuditEntry: Codable, Hashable, Sendable {
  /// 1 for the first entry; without gaps.
  package let sequence: Int64
  /// Unix seconds.
  package let time: Int64
  package let actor: String
  package let action: String
  package let subject: String
  package let detail: String
  /// The hash of the entry before, in lower-case hexadecimal; zeros for the first entry.
  package let previousHash: String
  /// SHA-256 over the hash of the entry before and all fields, in lower-case hexadecimal.
  package let hash: String

  /// The entry for `event` that follows the one with the hash `previous`.
  init(_ event: AuditEvent, sequence: Int64, time: Int64, after previous: String) {
    self.init(
      sequence: sequence, time: time, actor: event.actor, action: event.action.rawValue,
      subject: event.subject, detail: event.detail, previousHash: previous,
      hash: Self.hash(
        after: previous, sequence, time,
        [event.actor, event.action.rawValue, event.subject, event.detail]))
  }

  init(_ row: Row) {
    let (previous, hash): (Data, Data) = (row["previous_hash"], row["hash"])
    self.init(
      sequence: row["sequence"], time: row["time"], actor: row["actor"], action: row["action"],
      subject: row["subject"], detail: row["detail"], previousHash: previous.hexadecimal,
      hash: hash.hexadecimal)
  }

  init(
    sequence: Int64, time: Int64, actor: String, action: String, subject: String, detail: String,
    previousHash: String, hash: String
  ) {
    self.sequence = sequence
    self.time = time
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
    self.previousHash = previousHash
    self.hash = hash
  }

  /// The hash before the first entry.
  static let zeroHash = String(repeating: "0", count: 2 * SHA256.byteCount)

  /// True if the hash is that of the fields.
  var isIntact: Bool {
    hash == Self.hash(after: previousHash, sequence, time, [actor, action, subject, detail])
  }

  /// The entry as a line of JSON with sorted names.
  package var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder.encodeIfPossible(self).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Each field is preceded by its length, so that no two entries have the same input.
  private static func hash(
    after previous: String, _ sequence: Int64, _ time: Int64, _ fields: [String]
  ) -> String {
    var hash = SHA256()
    hash.update(data: Data(previous.utf8))
    for number in [sequence, time] { hash.update(data: bigEndian(number)) }
    for field in fields {
      hash.update(data: bigEndian(Int64(field.utf8.count)))
      hash.update(data: Data(field.utf8))
    }
    return hash.finalize().hexadecimal
  }

  private static func bigEndian(_ number: Int64) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data($0) }
  }
}

/// Verifies an audit log, whose entries are passed in their order.
package struct AuditChain: Sendable {
  /// The number of entries so far.
  package private(set) var count: Int64 = 0
  /// The hash of the last entry. An operator who stores it elsewhere can detect later that entries at the end were
  /// removed.
  package private(set) var head = AuditEntry.zeroHash
  /// The first fault, in one sentence.
  package private(set) var fault: String?

  package init() {}

  /// Checks the next entry.
  package mutating func append(_ entry: AuditEntry) {
    count += 1
    defer { head = entry.hash }
    guard fault == nil else { return }
    if entry.sequence != count {
      fault = "Entry \(count) is missing: the log continues with entry \(entry.sequence)."
    } else if entry.previousHash != head {
      fault =
        "Entry \(entry.sequence) does not follow the entry before it: one of them was replaced."
    } else if !entry.isIntact {
      fault = "Entry \(entry.sequence) was changed: its hash is not that of its fields."
    }
  }

  /// Checks an exported log, one entry a line.
  package mutating func append(lines text: String) {
    let decoder = JSONDecoder()
    for line in text.split(separator: "\n") {
      guard let entry = decoder.decodeIfValid(AuditEntry.self, from: Data(line.utf8)) else {
        fault = fault ?? "Line \(count + 1) is not an entry of an audit log."
        count += 1
        continue
      }
      append(entry)
    }
  }
}

/// Carries out actions of other servers with an entry in the audit log.
///
/// The entry is stored first: an action without an entry would be worse than an entry of an action that failed, which
/// gets a second entry.
struct AuditedActions: Sendable {
  let audit: AuditLog

  /// Records `event` and does `work`.
  ///
  /// - Throws: The error of `work`, which is recorded too, or of the database; then nothing was done.
  func perform<Value: Sendable>(
    _ event: AuditEvent, _ work: () async throws(AuthorityFailure) -> Value
  ) async throws -> Value {
    try await audit.append(event)
    do throws(AuthorityFailure) {
      return try await work()
    } catch {
      try await audit.append(
        AuditEvent(
          event.actor, .failed, event.subject, detail: "\(event.action.rawValue): \(error.kind)"))
      throw error
    }
  }
}

extension AuthorityFailure {
  /// The failure without texts of other servers.
  fileprivate var kind: String {
    switch self {
    case .refused: "refused"
    case .notFound: "not found"
    case .taken: "issued before"
    case .changed: "changed before"
    case .unavailable: "unavailable"
    case .notOffered: "not offered"
    }
  }
}
