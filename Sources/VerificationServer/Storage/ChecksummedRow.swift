// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// A row with a checksum over all its other columns: computed whenever the row is stored, verified whenever it is read.
protocol ChecksummedRow: Codable, FetchableRecord, PersistableRecord {}

extension ChecksummedRow {
  /// Reads a row.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if the row is damaged. GRDB's errors would
  ///   contain its values.
  init(row: Row) throws {
    let stored: DatabaseValue? = row[checksumColumn]
    let computed: DatabaseValue?
    do {
      self = try FetchableRecordDecoder().decode(Self.self, from: row)
      computed = try databaseDictionary[checksumColumn]
    } catch {
      throw VerificationServerError.storageUnavailable
    }
    guard let computed, computed == stored else {
      throw VerificationServerError.storageUnavailable
    }
  }

  func encode(to container: inout PersistenceContainer) throws {
    try OtherColumns(row: self).encode(to: &container)
    var checksum = RowChecksum()
    // Sorted by name, so that the checksum does not depend on the order of the properties.
    for (_, value) in container.sorted(by: { $0.0 < $1.0 }) { checksum.add(value) }
    container[checksumColumn] = checksum.value
  }

  /// Fetches those of the requested rows that are not damaged.
  static func intact(_ request: QueryInterfaceRequest<Self>, in database: Database) throws -> [Self]
  {
    // The checks of the database count the damaged rows and report them.
    try Array(Row.fetchCursor(database, request).compactMap { try? Self(row: $0) })
  }

  /// Counts the damaged rows of the table.
  static func damagedCount(in database: Database) throws -> Int {
    let rows = try Row.fetchCursor(database, all())
    var count = 0
    while let row = try rows.next() {
      // A row that cannot be read is damaged.
      if (try? Self(row: row)) == nil { count += 1 }
    }
    return count
  }
}

extension TableDefinition {
  /// Adds the column of the checksum.
  func checksum() { column(checksumColumn, .integer).notNull() }
}

private let checksumColumn = "checksum"

/// The columns of a row without its checksum.
private struct OtherColumns<Columns: Encodable>: EncodableRecord, Encodable {
  let row: Columns

  func encode(to encoder: any Encoder) throws { try row.encode(to: encoder) }
}

extension RowChecksum {
  /// Adds the storage class and the value, so that an equal value of another class gives another checksum.
  fileprivate mutating func add(_ value: DatabaseValue) {
    switch value.storage {
    case .null:
      add(UInt64(0))
    case .int64(let number):
      add(UInt64(1))
      add(number)
    case .double(let number):
      add(UInt64(2))
      add(number.bitPattern)
    case .string(var text):
      add(UInt64(3))
      text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    case .blob(let bytes):
      add(UInt64(4))
      bytes.withUnsafeBytes { add($0) }
    }
  }
}
