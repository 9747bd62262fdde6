// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL
import Foundation
import Secrets

/// The rows of a result, in binary format. Rows and columns count from 0.
package final class PostgreSQLRows: Redacted {
  private let result: OpaquePointer

  /// Takes ownership of `result`.
  init(_ result: OpaquePointer) {
    self.result = result
  }

  deinit { PQclear(result) }

  /// The number of rows.
  package var count: Int { Int(PQntuples(result)) }

  /// The numbers of the rows.
  package var indices: Range<Int> { 0..<count }

  /// The number of rows that the statement has inserted, changed or deleted.
  package var changedCount: Int {
    PQcmdTuples(result).map { String(cString: $0) }.flatMap { Int($0) } ?? 0
  }

  /// The integer of 2, 4 or 8 bytes in a column; nil for NULL.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    field(row, column).flatMap(Self.integer)
  }

  /// The bytes in a column; nil for NULL.
  package func bytes(_ row: Int, _ column: Int) -> Data? {
    field(row, column).map { Data($0) }
  }

  /// The text in a column; nil for NULL.
  package func text(_ row: Int, _ column: Int) -> String? {
    field(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The Boolean in a column; false for NULL.
  package func bool(_ row: Int, _ column: Int) -> Bool {
    field(row, column)?.first == 1
  }

  /// The value of the first column of the first row.
  package var firstInteger: Int64? { count > 0 ? integer(0, 0) : nil }

  /// The names of the columns.
  package var columnNames: [String] {
    (0..<PQnfields(result)).map { PQfname(result, $0).map { String(cString: $0) } ?? "" }
  }

  /// A value of a column whose type is known only at run time.
  package enum AnyValue {
    case integer(Int64)
    case text(String)
    case bytes(Data)
  }

  /// The value in a column; nil for NULL. A type that is neither an integer nor `bytea` is read as text.
  package func value(_ row: Int, _ column: Int) -> AnyValue? {
    typealias TypeID = PostgreSQLValue.TypeID
    return switch PQftype(result, Int32(column)) {
    case TypeID.integer, TypeID.mediumInteger, TypeID.shortInteger:
      integer(row, column).map { .integer($0) }
    case TypeID.bytes: bytes(row, column).map { .bytes($0) }
    default: text(row, column).map { .text($0) }
    }
  }

  private func field(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let (row, column) = (Int32(row), Int32(column))
    guard PQgetisnull(result, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }

  static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: nil
    }
  }
}

/// A row of `COPY … TO STDOUT (FORMAT binary)`, read column by column. It is valid only during the call that gets it.
package struct PostgreSQLCopiedRow: Redacted {
  private let bytes: UnsafeRawBufferPointer
  private var offset: Int

  /// The number of bytes in the header, which precedes the first row.
  static let headerBytes = 19
  /// The number of bytes before the first column: the number of columns.
  private static let countBytes = 2

  /// Nil for the end marker.
  init?(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) {
    self.bytes = bytes
    let start = isFirst ? Self.headerBytes : 0
    offset = start + Self.countBytes
    guard offset <= bytes.count,
      Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int16.self)) >= 0
    else { return nil }
  }

  /// The bytes of the next column; nil for NULL.
  package mutating func nextBytes() -> UnsafeRawBufferPointer? {
    guard offset + 4 <= bytes.count else { return nil }
    let length = Int(
      Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    offset += 4
    guard length >= 0, offset + length <= bytes.count else { return nil }
    defer { offset += length }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
  }

  /// The integer in the next column; nil for NULL.
  package mutating func nextInteger() -> Int64? { nextBytes().flatMap(PostgreSQLRows.integer) }

  /// The Boolean in the next column; false for NULL.
  package mutating func nextBool() -> Bool { nextBytes()?.first == 1 }
}
