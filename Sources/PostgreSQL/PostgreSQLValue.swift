// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// A parameter of a statement in PostgreSQL's binary format.
package struct PostgreSQLValue: Redacted, Sendable {
  /// The types of parameters and columns, with the object identifiers that all PostgreSQL servers share.
  enum TypeID {
    static let (bool, bytes, integer, text): (UInt32, UInt32, UInt32, UInt32) = (16, 17, 20, 25)
    static let (shortInteger, mediumInteger): (UInt32, UInt32) = (21, 23)
    static let (bytesArray, integerArray, textArray): (UInt32, UInt32, UInt32) = (1001, 1016, 1009)
  }

  let typeID: UInt32
  /// Nil for NULL.
  let encoded: [UInt8]?

  private init(_ typeID: UInt32, _ encoded: [UInt8]?) {
    self.typeID = typeID
    self.encoded = encoded
  }

  /// A `bigint`.
  package static func integer(_ value: Int64?) -> PostgreSQLValue {
    PostgreSQLValue(TypeID.integer, value.map { bigEndian($0) })
  }

  /// A `bigint`.
  package static func integer(_ value: Int) -> PostgreSQLValue { integer(Int64(value)) }

  /// NULL, in the type that the statement needs.
  package static var null: PostgreSQLValue { PostgreSQLValue(0, nil) }

  /// A `boolean`.
  package static func bool(_ value: Bool) -> PostgreSQLValue {
    PostgreSQLValue(TypeID.bool, [value ? 1 : 0])
  }

  /// A `bytea`.
  package static func bytes(_ value: Data?) -> PostgreSQLValue {
    PostgreSQLValue(TypeID.bytes, value.map { [UInt8]($0) })
  }

  /// A `text`.
  package static func text(_ value: String?) -> PostgreSQLValue {
    PostgreSQLValue(TypeID.text, value.map { [UInt8]($0.utf8) })
  }

  /// A `bigint[]`.
  package static func integers(_ values: [Int64?]) -> PostgreSQLValue {
    array(TypeID.integerArray, of: TypeID.integer, values, bytesPerElement: 8) {
      $1 += bigEndian($0)
    }
  }

  /// A `text[]`.
  package static func texts(_ values: [String]) -> PostgreSQLValue {
    array(TypeID.textArray, of: TypeID.text, values, bytesPerElement: 16) { $1 += $0.utf8 }
  }

  /// A `bytea[]`.
  package static func byteStrings(_ values: [Data]) -> PostgreSQLValue {
    array(TypeID.bytesArray, of: TypeID.bytes, values, bytesPerElement: 32) { $1 += $0 }
  }

  /// A `bytea[]` of strings with 16 bytes, such as keys.
  package static func byteStrings(_ values: [(UInt64, UInt64)]) -> PostgreSQLValue {
    array(TypeID.bytesArray, of: TypeID.bytes, values, bytesPerElement: 16) { words, buffer in
      withUnsafeBytes(of: words) { buffer.append(contentsOf: $0) }
    }
  }

  /// Encodes a one-dimensional array: a header, then each element with its length.
  private static func array<Element>(
    _ typeID: UInt32, of elementTypeID: UInt32, _ values: [Element?], bytesPerElement: Int,
    _ append: (Element, inout [UInt8]) -> Void
  ) -> PostgreSQLValue {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(20 + values.count * (4 + bytesPerElement))
    // Dimensions (an empty array has none), a flag for NULL, which servers ignore, the type, length and lower bound.
    buffer += bigEndian(Int32(values.isEmpty ? 0 : 1)) + bigEndian(Int32(0))
    buffer += bigEndian(elementTypeID)
    if !values.isEmpty { buffer += bigEndian(Int32(values.count)) + bigEndian(Int32(1)) }
    for value in values {
      let start = buffer.count
      buffer += bigEndian(Int32(-1))
      guard let value else { continue }
      append(value, &buffer)
      let length = bigEndian(Int32(buffer.count - start - 4))
      buffer.replaceSubrange(start..<start + 4, with: length)
    }
    return PostgreSQLValue(typeID, buffer)
  }

  static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) }
  }
}

/// A statement with its parameters `$1`, `$2` and so on.
package struct PostgreSQLStatement: Redacted, Sendable {
  let sql: String
  let parameters: [PostgreSQLValue]
  /// True if the text occurs again, so that the connection prepares it.
  let isReused: Bool

  package init(_ sql: String, _ parameters: PostgreSQLValue...) {
    self.init(sql, parameters)
  }

  /// - Parameters:
  ///   - sql: The text.
  ///   - parameters: The values of `$1`, `$2` and so on.
  ///   - isReused: False for a text that contains values, which would fill the memory for prepared statements.
  package init(_ sql: String, _ parameters: [PostgreSQLValue], isReused: Bool = true) {
    self.sql = sql
    self.parameters = parameters
    self.isReused = isReused
  }
}
