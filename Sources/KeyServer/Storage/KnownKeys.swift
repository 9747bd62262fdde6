import GRDB
import Synchronization

/// What the one who writes keys remembers of those that are in: enough to say of a new one that it is new.
///
/// Another process may write keys too. Each takes a number for what it adds (`WaitingKeys`), so the latest
/// number tells whether there is anything that is not remembered; then all is read anew.
final class KnownKeys: Sendable {
  private let memory = Mutex<Memory?>(nil)

  struct Memory {
    var presence: KeyPresence
    /// The latest row of waiting keys that is remembered.
    var latest: Int64
    /// The one before the present transaction.
    var before: Int64
  }

  /// Gives `body` what is remembered of the keys that `db` has, inside its transaction.
  ///
  /// What a transaction adds is remembered also where it is undone: then some keys are looked for in vain.
  func remembered<Result>(in db: Database, _ body: (inout Memory) throws -> Result) throws -> Result
  {
    try memory.withLock { memory in
      var known = try Self.upToDate(memory, in: db)
      // Moved out and back, so that the filter is not copied when it is written to.
      memory = nil
      known.before = known.latest
      defer { memory = known }
      return try body(&known)
    }
  }

  /// Takes notice that the latest transaction was undone: its number will be given again.
  func undone() {
    memory.withLock { memory in
      if let before = memory?.before { memory?.latest = before }
    }
  }

  private static func upToDate(_ memory: Memory?, in db: Database) throws -> Memory {
    let latest = try WaitingKeys(db: db).latestNumber()
    guard let memory, memory.latest == latest, memory.presence.count <= memory.presence.capacity
    else { return try read(in: db, latest: latest) }
    return memory
  }

  private static func read(in db: Database, latest: Int64) throws -> Memory {
    try WaitingKeys(db: db).sortIn()
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key") ?? 0
    var presence = KeyPresence(capacity: max(2 * count, SQLiteLimit.knownKeysMin))
    try db.makeStatement(sql: "SELECT key_data FROM diagnosis_key").forEachRow([], in: db) { row in
      if let words = row.words(at: 0) { presence.add(words) }
    }
    return Memory(presence: presence, latest: latest, before: latest)
  }
}
