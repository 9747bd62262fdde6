// SPDX-License-Identifier: Apache-2.0
import PostgreSQL
import TestSupport

/// The engines of the console's database that the tests run with.
enum ConsoleEngine: CaseIterable {
  case sqlite, postgresql

  /// PostgreSQL is left out if no other process may be started.
  static var allCases: [ConsoleEngine] {
    [.sqlite] + (PrivatePostgreSQL.isAvailable ? [.postgresql] : [])
  }

  /// The address of a new database; nil for a file.
  func newDatabase() async throws -> PostgreSQLAddress? {
    guard self == .postgresql else { return nil }
    return try await PrivatePostgreSQL.newPatientDatabase()
  }
}
