import Dispatch
import GRDB
import Synchronization

/// Sorts the keys that wait into their table while uploads go on being committed.
///
/// A part of the table at a time, in the order of its bytes: so no upload waits long, and a page is written
/// once for all keys that go into it. Where it fails, or the process ends in the middle, the keys wait on,
/// and whoever reads the table sorts them in.
final class SortingIn: Sendable {
  private let writer: DatabasePool
  private let log: LogCopying
  private let keyCountMax: Int
  private let queue = DispatchQueue(label: "sorting in")
  private let state = Mutex(State())

  private struct State {
    var keyCount = 0
    var isBusy = false
  }

  /// Sorts in what uploads add to the database of `writer`, each time that `keyCountMax` keys have come.
  init(_ writer: DatabasePool, log: LogCopying, keyCountMax: Int) {
    self.writer = writer
    self.log = log
    self.keyCountMax = keyCountMax
  }

  /// Takes notice of a commit of so many keys, and has all sorted in once they have become many.
  func committed(keyCount: Int) {
    let begins = state.withLock { state in
      state.keyCount += keyCount
      guard state.keyCount >= keyCountMax, !state.isBusy else { return false }
      state = State(keyCount: 0, isBusy: true)
      return true
    }
    if begins { queue.async { self.run() } }
  }

  private func run() {
    try? sortIn()
    state.withLock { $0.isBusy = false }
  }

  private func sortIn() throws {
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
