import Foundation
import GRDB

/// The keys of uploads that are on the disk, and wait to be sorted into the table of keys.
///
/// The keys of one commit are one row, one behind the other in the order of their bytes: so an upload writes a
/// part of a page, where each of its keys in its place of the table changes a page of its own. Who
/// reads the table sorts in what waits before; until then the row joins the keys of a commit, and of no
/// single upload but where it came alone. Documentation/KeyServer.md 3 and decision 18.
struct WaitingKeys {
  let db: Database

  /// The number of the latest row that was ever added, by whatever process. A number is never given twice.
  func latestNumber() throws -> Int64 {
    try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'waiting_keys'")) ?? 0
  }

  /// Adds the keys of a commit.
  ///
  /// - Returns: The number of their row.
  func add(_ keys: [StoredKey]) throws -> Int64 {
    try db.cachedStatement(sql: "INSERT INTO waiting_keys (keys) VALUES (?)")
      .execute(arguments: [Self.bytes(of: keys)])
    return db.lastInsertedRowID
  }

  /// Every key that waits, in the order of their bytes, and the number of the latest row they are in; nil
  /// where none waits.
  ///
  /// - Throws: `DatabaseError`, `KeyServerError.damagedRow` where a row is not as it was written.
  func all() throws -> (keys: [StoredKey], latest: Int64)? {
    var (keys, latest) = try keys()
    keys.sort { $0.isBefore($1) }
    return latest.map { (keys, $0) }
  }

  /// The same in no order.
  private func keys() throws -> (keys: [StoredKey], latest: Int64?) {
    var keys: [StoredKey] = []
    var latest: Int64?
    let rows = try Row.fetchCursor(
      db.cachedStatement(sql: "SELECT number, keys FROM waiting_keys ORDER BY number"))
    while let row = try rows.next() {
      let number: Int64 = row[0]
      guard try row.withUnsafeData(atIndex: 1, { Self.read($0 ?? Data(), into: &keys) }) else {
        throw KeyServerError.damagedRow(number)
      }
      latest = number
    }
    return (keys, latest)
  }

  /// Whether a key with one of these bytes, as memory holds them, is among those that wait.
  func holdsAny(of places: [(UInt64, UInt64)]) throws -> Bool {
    try keys().keys.contains { key in places.contains { $0 == key.words } }
  }

  /// Whether the row of this number still waits, and so all that are with it.
  func waits(_ number: Int64) throws -> Bool {
    try Row.fetchOne(
      db.cachedStatement(sql: "SELECT 1 FROM waiting_keys WHERE number = ?"), arguments: [number])
      != nil
  }

  /// Forgets the rows up to `number`, whose keys are in the table.
  func remove(upTo number: Int64) throws {
    try db.cachedStatement(sql: "DELETE FROM waiting_keys WHERE number <= ?")
      .execute(arguments: [number])
  }

  /// Sorts all of them into the table. A key that is in it already stays as it has become.
  func sortIn() throws {
    guard let (keys, latest) = try all() else { return }
    try KeyInsertion(in: db).insert(keys)
    try remove(upTo: latest)
  }
}

extension WaitingKeys {
  /// Stands before the keys of a row, for forms to come.
  private static let form: UInt8 = 1
  /// About as many bytes as one key takes.
  private static let bytesOfOneKey = 48

  static func bytes(of keys: [StoredKey]) -> Data {
    var bytes: [UInt8] = [form]
    bytes.reserveCapacity(1 + keys.count * bytesOfOneKey)
    for key in keys.sorted(by: { $0.isBefore($1) }) { key.append(to: &bytes) }
    return Data(bytes)
  }

  /// False where the bytes are not those of keys.
  static func read(_ bytes: Data, into keys: inout [StoredKey]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard bytes.first == form else { return false }
      var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
      while !rest.isEmpty {
        guard let key = StoredKey(from: &rest) else { return false }
        keys.append(key)
      }
      return true
    }
  }
}

extension StoredKey {
  /// The order of the bytes, which is that of the table.
  fileprivate func isBefore(_ other: StoredKey) -> Bool {
    (words.0.bigEndian, words.1.bigEndian) < (other.words.0.bigEndian, other.words.1.bigEndian)
  }
}
