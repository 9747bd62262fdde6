import Foundation
import GRDB

extension SQLiteCodeStorage {
  func add(_ key: ApiKeyRecord) async throws {
    try await write { try ApiKeyRow(key).insert($0) }
  }

  func apiKey(_ id: ApiKeyID) async throws -> ApiKeyRecord? {
    try await read { try ApiKeyRow.fetchOne($0, key: id.text)?.record }
  }

  func apiKeys() async throws -> [ApiKeyRecord] {
    try await read { database in
      try ApiKeyRow.order(Column("createdAt"), Column("id")).fetchAll(database).compactMap(\.record)
    }
  }

  func revokeApiKey(_ id: ApiKeyID, at now: Date) async throws -> Bool {
    try await write { database in
      guard var row = try ApiKeyRow.fetchOne(database, key: id.text) else { return false }
      row.revokedAt = row.revokedAt ?? now.unixSecond
      try row.update(database)
      return true
    }
  }
}
