import GRDB

/// Sorts the keys that wait into their table while uploads go on being committed.
///
/// A part of the table at a time, in the order of its bytes: so no upload waits long, and a page is written
/// once for all keys that go into it. Where it fails, or the process ends in the middle, the keys wait on,
/// and whoever reads the table sorts them in.
struct SortingIn {
  let writer: DatabasePool
  let log: LogCopying

  /// Sorts in all that waits now.
  func run() throws {
    guard let (keys, latest) = try writer.read({ try WaitingKeys(db: $0).all() }) else { return }
    for first in stride(from: 0, to: keys.count, by: SQLiteLimit.keysSortedInOneCommit) {
      let part = keys[first...].prefix(SQLiteLimit.keysSortedInOneCommit)
      guard try insert(part, unlessGone: latest) else { return }
      log.committed(pageCount: part.count)
    }
    try writer.write { try WaitingKeys(db: $0).remove(upTo: latest) }
  }

  /// False where the rows were sorted in by somebody else: a key may have been removed since, and must not
  /// come back.
  func insert(_ keys: ArraySlice<StoredKey>, unlessGone latest: Int64) throws -> Bool {
    try writer.write { db in
      guard try WaitingKeys(db: db).waits(latest) else { return false }
      try KeyInsertion(in: db).insert(keys)
      return true
    }
  }
}
