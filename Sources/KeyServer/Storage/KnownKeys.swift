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
    /// The one before the present transaction, until it is on the disk or undone.
    var before: Int64?
  }

  /// Gives `body` what is remembered of the keys that `db` has, inside its transaction.
  ///
  /// What a transaction adds is remembered also where it is undone: then some keys are looked for in vain.
  func remembered<Result>(in db: Database, _ body: (inout Memory) throws -> Result) throws -> Result
  {
    try memory.withLock { memory in
      let latest = try WaitingKeys(db: db).latestNumber()
      let isStale = memory.map { $0.latest != latest || $0.presence.isOverfull } ?? false
      // Given up first: the old one and the new one need not lie in memory together.
      if isStale { memory = nil }
      var known = try memory ?? Self.read(in: db, latest: latest)
      // Moved out and back, so that the filter is not copied when it is written to.
      memory = nil
      defer { memory = known }
      known.before = known.latest
      return try body(&known)
    }
  }

  /// Takes notice that the transaction is on the disk.
  func committed() {
    memory.withLock { $0?.before = nil }
  }

  /// Takes notice that the transaction was undone: the number that it took will be given again. One that did not
  /// even begin has changed nothing.
  func undone() {
    memory.withLock { memory in
      if let before = memory?.before { memory?.latest = before }
      memory?.before = nil
    }
  }

  /// Takes notice of keys that were added beside the uploads, by the transaction that took `number` after
  /// `earlier`. Where more is not remembered it will be read anew.
  func added(_ keys: [StoredKey], as number: Int64, after earlier: Int64) {
    memory.withLock { memory in
      guard memory?.latest == earlier else { return }
      for key in keys { memory?.presence.add(key.words) }
      memory?.latest = number
    }
  }

  private static func read(in db: Database, latest: Int64) throws -> Memory {
    try WaitingKeys(db: db).sortIn()
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key") ?? 0
    var presence = KeyPresence(capacity: max(2 * count, SQLiteLimit.knownKeysMin))
    try db.makeStatement(sql: "SELECT key_data FROM diagnosis_key").forEachRow([], in: db) { row in
      if let words = row.words(at: 0) { presence.add(words) }
    }
    return Memory(presence: presence, latest: latest)
  }
}
