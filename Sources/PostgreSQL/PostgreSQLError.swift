// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL

/// A failure of a database request, by the reaction that it needs.
package struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reaction that the failure needs.
  package enum Kind: Hashable, Sendable {
    /// No connection within the time for it: try again later.
    case unavailable
    /// The connection was lost before the transaction was committed: repeat it.
    case connectionLost
    /// The connection was lost while the transaction was committed: it is stored completely or not at all.
    case outcomeUnknown
    /// The server has become a standby: connect again.
    case readOnly
    /// A deadlock, a serialization failure, or a row that another transaction has inserted: repeat the transaction.
    case conflict
    /// A lock or a statement took too long, or the request was cancelled.
    case timeout
    /// The disk or the memory of the server is full, or it has too many connections.
    case resources
    /// A stored value or page is damaged.
    case damaged
    /// The statement is wrong for this database, such as a missing table.
    case statement
  }

  package let kind: Kind
  /// The five characters of the SQLSTATE; nil for failures of the connection.
  package let sqlState: String?
  /// The message of the server or of libpq, without the detail, which may quote values.
  package let message: String
  /// The name of the constraint that a row violates; nil for other failures.
  package let constraint: String?

  package init(
    _ kind: Kind, sqlState: String? = nil, constraint: String? = nil, _ message: String
  ) {
    self.kind = kind
    self.sqlState = sqlState
    self.constraint = constraint
    self.message = message
  }

  package var description: String {
    "PostgreSQL\(sqlState.map { " \($0)" } ?? ""): \(message)"
  }

  /// True if a failure with this description is that of a server that accepts no changes, such as a standby.
  package static func isOfStandby(_ description: String) -> Bool {
    description.contains("session is read-only")
      || description.contains("server is in hot standby mode")
      || description.contains("PostgreSQL \(readOnlyState): ")
  }

  private static let readOnlyState = "25006"

  /// True if the connection cannot be used any more.
  var endsConnection: Bool {
    switch kind {
    case .unavailable, .connectionLost, .outcomeUnknown, .readOnly: true
    case .conflict, .timeout, .resources, .damaged, .statement: false
    }
  }

  /// True if a transaction that was not committed can be repeated.
  var isRepeatable: Bool { [.connectionLost, .readOnly, .conflict].contains(kind) }

  /// The failure of a statement with this result.
  init(_ result: OpaquePointer) {
    func field(_ code: UInt8) -> String? {
      PQresultErrorField(result, Int32(code)).map { String(cString: $0) }
    }
    let (state, primary) = (field(UInt8(ascii: "C")), field(UInt8(ascii: "M")))
    let message = primary ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
    self.init(
      state.map(Self.kind) ?? .connectionLost, sqlState: state,
      constraint: field(UInt8(ascii: "n")), Self.oneLine(message))
  }

  /// The failure of a connection, with the message of libpq.
  init(_ kind: Kind, of connection: OpaquePointer?) {
    let message = PQerrorMessage(connection).map { String(cString: $0) } ?? "out of memory"
    self.init(kind, Self.oneLine(message))
  }

  private static func kind(of state: String) -> Kind {
    switch state {
    case "40001", "40P01", "23505": .conflict
    case "55P03", "57014", "25P03", "57P05": .timeout
    case "57P01", "57P02", "57P03": .connectionLost
    case readOnlyState: .readOnly
    case _ where state.hasPrefix("08"): .connectionLost
    case _ where state.hasPrefix("53"), "58030": .resources
    case "XX001", "XX002": .damaged
    default: .statement
    }
  }

  /// Messages of libpq for several hosts have several lines.
  private static func oneLine(_ message: String) -> String {
    let lines = message.split(separator: "\n").map { $0.trimmingPrefix { $0.isWhitespace } }
    return lines.joined(separator: "; ")
  }
}
