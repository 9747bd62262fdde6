// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite("A verification server with changed values in its database")
struct DamagedRowsTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "A code with one changed value is refused and not spent, and other codes are valid",
    arguments: ["issue", "codeHash"])
  func redeem(table: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode()
      let rows = try DamagedRows(server)
      for column in try rows.columns(of: table) {
        let change = try rows.change(column, in: table)
        // A changed hash is that of another code.
        let expected = column == "hash" ? 404 : 503
        #expect(try await server.redeem(code).status == expected, "\(column)")
        #expect(try await server.redeem(server.newCode()).status == 200, "\(column)")
        try rows.undo(change)
      }
      let response = try await server.redeem(code)
      #expect(response.status == 200)
      _ = try await server.grant(of: response)
    }
  }

  @Test("If the table of the codes cannot be read, API keys are still listed and revoked")
  func apiKeys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      _ = try await server.issue()
      let apiKeys = try server.apiKeys()
      let admin = try #require(try await apiKeys.list().first { $0.kind == .admin })
      #expect(admin.liveCodes == 1)
      let rows = try DamagedRows(server)
      try rows.execute("ALTER TABLE issue RENAME TO unreadable")
      let entries = try await apiKeys.list()
      #expect(entries.count == 2 && entries.allSatisfy { $0.liveCodes == nil })
      #expect(try await apiKeys.revoke(admin.id))
      #expect(try await apiKeys.list().contains { $0.id == admin.id && $0.revokedAt != nil })
      try rows.execute("ALTER TABLE unreadable RENAME TO issue")
      #expect(try await apiKeys.list().first { $0.id == admin.id }?.liveCodes == 1)
    }
  }

  @Test("A code whose test result was changed is neither verified nor ended nor shown")
  func verify() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue(#"{"testType":"likely"}"#)
      let other = try await server.issue(#"{"testType":"likely"}"#)
      let rows = try DamagedRows(server)
      try rows.execute("UPDATE issue SET testType = 'confirmed' WHERE id = 1")
      let uuid = #"{"uuid":"\#(issued.uuid)"}"#
      for response in [
        try await server.verify(issued.code),
        try await server.admin(VerificationRoute.expireCode, uuid),
        try await server.admin(VerificationRoute.checkCodeStatus, uuid),
      ] {
        #expect(response.refusal == "503 internal_server_error")
      }
      #expect(try await server.verified(other.code).testtype == "likely")
      try rows.execute("UPDATE issue SET testType = 'likely' WHERE id = 1")
      #expect(try await server.status(of: issued.uuid).claimed == false)
      #expect(try await server.verified(issued.code).testtype == "likely")
    }
  }

  @Test("A damaged row is not written again with a new checksum when its code is ended")
  func expire() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue(#"{"testType":"confirmed"}"#)
      let rows = try DamagedRows(server)
      let change = try rows.change("form", in: "codeHash")
      let uuid = #"{"uuid":"\#(issued.uuid)"}"#
      let refused = try await server.admin(VerificationRoute.expireCode, uuid)
      #expect(refused.refusal == "503 internal_server_error")
      #expect(try await server.verify(issued.code).refusal == "503 internal_server_error")
      try rows.undo(change)
      #expect(try await server.admin(VerificationRoute.expireCode, uuid).status == 200)
      #expect(try await server.verify(issued.code).status == 400)
    }
  }

  @Test(
    "A damaged row does not keep the other codes of a revoked API key alive",
    arguments: [
      ("UPDATE issue SET symptomDay = 1 WHERE id = 1", 1),
      ("UPDATE codeHash SET form = 'other' WHERE issue = 1", 2),
    ])
  func endCodes(damage: String, count: Int) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let damaged = try await server.issue()
      let other = try await server.issue()
      try DamagedRows(server).execute(damage)
      let apiKeys = try server.apiKeys()
      let admin = try #require(try await apiKeys.list().first { $0.kind == .admin })
      #expect(try await apiKeys.endCodes(of: admin.id) == count)
      #expect(try await server.verify(damaged.code).refusal == "503 internal_server_error")
      #expect(try await server.verify(other.code).status == 400)
      #expect(try await apiKeys.endCodes(of: admin.id) == 0)
    }
  }

  @Test("A used token whose row has a changed value gets no certificate, even after a cleanup")
  func exchange() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue().code
      let token = try await server.verified(code).token
      let certified = try await server.certify(token)
      #expect(certified.status == 200)
      let other = Data(repeating: 8, count: 32)
      let rows = try DamagedRows(server)
      // A row with another name is not found.
      for column in try rows.columns(of: "exchange") where column != "tokenIDHash" {
        let change = try rows.change(column, in: "exchange")
        for keyHMAC in [RunningServer.keyHMAC, other] {
          let refused = try await server.certify(token, keyHMAC: keyHMAC)
          #expect(refused.refusal == "503 internal_server_error", "\(column)")
        }
        #expect(try await server.verify(code).refusal == "503 internal_server_error", "\(column)")
        let next = try await server.verified(server.issue().code).token
        #expect(try await server.certify(next).status == 200, "\(column)")
        try rows.undo(change)
      }
      try rows.execute("UPDATE exchange SET expiresAt = expiresAt - 1000000000")
      try await server.server.removeExpired()
      let refused = try await server.certify(token, keyHMAC: other)
      #expect(refused.refusal == "503 internal_server_error")
      try rows.execute("UPDATE exchange SET expiresAt = expiresAt + 1000000000")
      #expect(try await server.certify(token).status == 200)
      #expect(try await server.certify(token, keyHMAC: other).status == 400)
    }
  }

  @Test("The check names damaged rows of each table, each column of which it covers")
  func health() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      // The check at the start would report that there is no fault.
      try await server.untilIdle()
      let token = try await server.verified(server.issue().code).token
      #expect(try await server.certify(token).status == 200)
      let rows = try DamagedRows(server)
      for table in ["issue", "codeHash", "exchange"] {
        for column in try rows.columns(of: table) {
          let change = try rows.change(column, in: table)
          await server.server.checkStoredData()
          #expect(server.server.faults.count == 1, "\(table).\(column)")
          #expect(
            server.server.faults.first?.contains("Damaged rows in the code database: 1.") == true)
          try rows.undo(change)
          await server.server.checkStoredData()
          #expect(server.server.faults.isEmpty, "\(table).\(column)")
        }
      }
      try rows.execute("UPDATE issue SET issuedAt = 0")
      try rows.execute("UPDATE exchange SET expiresAt = 0")
      await server.server.checkStoredData()
      #expect(server.log.errors.last?.contains("Damaged rows in the code database: 2.") == true)
    }
  }

  @Test("Rows that the server itself changed are intact")
  func intact() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      _ = try await server.redeem(server.newCode())
      let issued = try await server.issue()
      let token = try await server.verified(issued.code).token
      #expect(try await server.certify(token).status == 200)
      for uuid in [issued.uuid, try await server.issue().uuid] {
        let ended = try await server.admin(
          VerificationRoute.expireCode, #"{"uuid":"\#(uuid)"}"#)
        #expect(ended.status == 200)
      }
      await server.server.checkStoredData()
      #expect(server.server.faults.isEmpty)
    }
  }
}

/// The oldest code and exchange in a server's database, changed one value at a time by another connection.
struct DamagedRows {
  private let queue: DatabaseQueue
  private let victims: [String: Row]

  init(_ server: RunningServer) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let path = server.configuration.databaseFile.path
    queue = try DatabaseQueue(waitingAt: path, configuration: configuration)
    victims = try queue.read { database in
      var rows: [String: Row] = [:]
      for (table, order) in [("issue", "id"), ("codeHash", "issue, form DESC"), ("exchange", "1")] {
        rows[table] = try Row.fetchOne(
          database, sql: "SELECT * FROM \(table) ORDER BY \(order) LIMIT 1")
      }
      return rows
    }
  }

  /// A changed value of one row.
  struct Change {
    let table: String
    let column: String
    let before: DatabaseValue
    let after: DatabaseValue
  }

  func columns(of table: String) throws -> [String] {
    try queue.read { try $0.columns(in: table).map(\.name) }
  }

  func change(_ column: String, in table: String) throws -> Change {
    let row = try #require(victims[table])
    let before: DatabaseValue = row[column]
    return try queue.write { database in
      let kind = try database.columns(in: table).first { $0.name == column }?.type ?? ""
      let change = Change(
        table: table, column: column, before: before, after: Self.other(before, kind: kind))
      let key = try database.primaryKey(table).columns[0]
      try database.execute(
        sql: "UPDATE \(table) SET \(column) = ? WHERE \(key) = ?",
        arguments: [change.after, row[key] as DatabaseValue])
      try #require(database.changesCount == 1)
      return change
    }
  }

  func undo(_ change: Change) throws {
    try queue.write { database in
      try database.execute(
        sql: "UPDATE \(change.table) SET \(change.column) = ? WHERE \(change.column) = ?",
        arguments: [change.before, change.after])
      try #require(database.changesCount == 1)
    }
  }

  func execute(_ sql: String) throws {
    try queue.write { try $0.execute(sql: sql) }
  }

  /// Another value of the same kind that no row has, and not NULL.
  private static func other(_ value: DatabaseValue, kind: String) -> DatabaseValue {
    switch value.storage {
    case .int64(let number): (number ^ (1 << 40)).databaseValue
    case .string(let text): (text + "x").databaseValue
    case .blob(let bytes): Data(bytes.map { $0 ^ 1 }).databaseValue
    case .double, .null:
      switch kind {
      case "INTEGER": Int64(1 << 40).databaseValue
      case "TEXT": "x".databaseValue
      default: Data([1]).databaseValue
      }
    }
  }
}
