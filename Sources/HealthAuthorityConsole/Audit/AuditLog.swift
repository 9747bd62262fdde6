import Foundation
import GRDB
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

extension AuditEntry {
  init(_ row: Row) {
    let (previous, hash): (Data, Data) = (row["previous_hash"], row["hash"])
    self.init(
      sequence: row["sequence"], time: row["time"], actor: row["actor"], action: row["action"],
      subject: row["subject"], detail: row["detail"], previousHash: previous.hexadecimal,
      hash: hash.hexadecimal)
  }
}

extension Data {
  /// The bytes in lower-case hexadecimal.
  var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The bytes of hexadecimal text; empty if it is not such text.
  init(hexadecimal text: String) {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue ?? -1 }
    guard digits.count.isMultiple(of: 2), !digits.contains(-1) else {
      self.init()
      return
    }
    self.init(
      stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
