// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextEncodings
import World

/// The audit log in the database.
///
/// Transactions that write exclude each other, so that the chain has no branches, also if several processes append to
/// it. An action that changes the console's own data is recorded in the same transaction. An action of another server
/// is recorded before it is carried out, so that no action lacks an entry.
struct AuditLog: Sendable {
  let database: ConsoleDatabase
  let key: AuditKey
  /// The start of the log; nil if it was not upgraded yet.
  var start: AuditStart?
  let clock: any WallClock
  /// The length of a field, in bytes. Longer ones are cut.
  let fieldBytesMax: Int

  /// Records an action.
  func append(_ event: AuditEvent) async throws {
    let now = clock.now.unixSecond
    try await database.write { try append(event, at: now, in: $0) }
  }

  /// Records an action in the transaction that carries it out.
  func append(_ event: AuditEvent, at now: Int64, in db: ConsoleTransaction) throws {
    let last = try db.row(
      sql: "SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
    let sequence: Int64 = last?["sequence"] ?? 0
    let previous: Data? = last?["hash"]
    let entry = AuditEntry(
      AuditEvent(
        cut(event.actor), event.action, cut(event.subject), detail: cut(event.detail)),
      sequence: sequence + 1, time: now, after: previous?.hexadecimal ?? AuditEntry.zeroHash,
      key: key)
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

  /// Completes the upgrade from a version without a key: states the entries without a key in a first entry with it, if
  /// there are any and no other entry follows them.
  ///
  /// Called only while the start of the log is not stored yet, before the console writes other entries.
  ///
  /// - Returns: The start of the log, to be stored outside the database.
  func completeUpgrade() async throws -> AuditStart {
    let now = clock.now.unixSecond
    return try await database.write { db in
      let start = try start(in: db)
      let count = try db.count(sql: "SELECT count(*) FROM audit")
      if start.entries > 0, count == start.entries {
        try append(
          AuditEvent(AuditEvent.commandLine, .auditKeyed, detail: start.detail), at: now, in: db)
      }
      return start
    }
  }

  private func start(in db: ConsoleTransaction) throws -> AuditStart {
    var start = AuditStart.empty
    while true {
      let page = try Self.entries(
        after: start.entries, ConsoleLimit.auditEntriesAtOnce, in: db)
      for entry in page {
        guard entry.isIntact(nil) else { return start }
        start = AuditStart(entries: entry.sequence, head: entry.hash)
      }
      guard !page.isEmpty else { return start }
    }
  }

  /// The newest entries that match `filter`, newest first; those before the entry `sequence` if there is one.
  func newest(
    _ count: Int, before sequence: Int64? = nil, matching filter: AuditFilter = AuditFilter()
  ) async throws -> [AuditEntry] {
    let (actor, subject) = (Self.lowercased(filter.actor), Self.lowercased(filter.subject))
    return try await database.read { db in
      try db.rows(
        sql: """
          SELECT * FROM audit WHERE sequence < ? AND time >= ? AND time < ?
            AND (? = '' OR lower(actor) = ?) AND (? = '' OR action = ?)
            AND (? = '' OR lower(subject) LIKE ? ESCAPE '!')
          ORDER BY sequence DESC LIMIT ?
          """,
        arguments: [
          sequence ?? Int64.max, filter.from, filter.end, actor, actor, filter.action,
          filter.action, subject, Self.pattern(containing: subject), count,
        ]
      ).map(AuditEntry.init)
    }
  }

  /// The entries that follow the entry `sequence`, oldest first.
  func entries(after sequence: Int64, _ count: Int) async throws -> [AuditEntry] {
    try await database.read { try Self.entries(after: sequence, count, in: $0) }
  }

  private static func entries(
    after sequence: Int64, _ count: Int, in db: ConsoleTransaction
  ) throws -> [AuditEntry] {
    try db.rows(
      sql: "SELECT * FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?",
      arguments: [sequence, count]
    ).map(AuditEntry.init)
  }

  /// The text as the databases' `lower` has it: only ASCII letters have a case.
  private static func lowercased(_ text: String) -> String {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let bytes = text.utf8.map { capitals.contains($0) ? $0 + 0x20 : $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A pattern of `LIKE` with the escape character `!`.
  private static func pattern(containing text: String) -> String {
    "%" + text.replacingScalars(["!": "!!", "%": "!%", "_": "!_"]) + "%"
  }

  /// Passes all entries to `body`, oldest first, and verifies their chain.
  @discardableResult
  func forEach(
    atOnce count: Int, _ body: (AuditEntry) async throws -> Void = { _ in }
  ) async throws -> AuditChain {
    var chain = AuditChain(key: key, start: start)
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

  /// The text as every engine can store it: PostgreSQL has no text with a null character.
  private func cut(_ text: String) -> String {
    let text = text.replacing("\0", with: "\u{FFFD}")
    guard text.utf8.count > fieldBytesMax else { return text }
    return String(decoding: text.utf8.prefix(fieldBytesMax), as: UTF8.self)
  }
}

/// The entries of the audit log that a page shows. Empty values match every entry.
struct AuditFilter: Hashable, Sendable {
  /// The name of the account.
  var actor = ""
  /// The raw value of the action.
  var action = ""
  /// A part of the subject, such as the start of the number of a code.
  var subject = ""
  /// The first second and the one after the last.
  var from = Int64.min
  var end = Int64.max
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
  case phoneFreed = "phone.freed"
  case proposed = "configuration.proposed"
  case approved = "configuration.approved"
  case rejected = "configuration.rejected"
  case changeRequested = "change.requested"
  case changeApproved = "change.approved"
  case changeRejected = "change.rejected"
  case paused = "phones.paused"
  case resumed = "phones.resumed"
  case withdrawn = "file.withdrawn"
  case restored = "file.restored"
  case codeRulesChanged = "code-rules.changed"
  case signingKeyRotated = "signing-key.rotated"
  case apiKeyAdded = "api-key.added"
  case apiKeyRevoked = "api-key.revoked"
  case authorityAdded = "authority.added"
  case authorityRemoved = "authority.removed"
  case authorityKeyWithdrawn = "authority.key-withdrawn"
  case appAdded = "app.added"
  case appRemoved = "app.removed"
  case auditExported = "audit.exported"
  case auditKeyed = "audit.keyed"
  case failed = "action.failed"
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
    case .refused, .notIssued: "refused"
    case .notFound: "not found"
    case .taken: "issued before"
    case .changed: "changed before"
    case .unavailable: "unavailable"
    case .notOffered: "not offered"
    }
  }
}
