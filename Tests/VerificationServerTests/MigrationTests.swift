import Crypto
import Foundation
import GRDB
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// Documentation/VerificationServer.md 9: a database of the first schema is brought forward.
@Suite struct MigrationTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("Codes of the first schema are good in the newest, and a used one gives its token again")
  func fromTheFirst() async throws {
    let bench = try VerificationBench()
    let file = folder.path("old.sqlite")
    let live = try #require(VerificationCode("A1B2C3"))
    let used = try #require(VerificationCode("Z9Y8X7"))
    let binding = bench.keys.binding(of: nil, to: bench.keys.hash(of: used))
    let sealed = try SealedToken(
      "a token", for: used, keys: bench.keys, nonce: [UInt8](repeating: 1, count: 12))
    try makeFirst(file) { database in
      let insert = "INSERT INTO code VALUES (?, 'confirmed', ?, ?, ?, ?)"
      let expiresAt = Int64(HandClock.start.timeIntervalSince1970) + 60
      try database.execute(
        sql: insert,
        arguments: [bench.keys.hash(of: live).bytes, 2_999_952, expiresAt, nil, nil])
      try database.execute(
        sql: insert,
        arguments: [bench.keys.hash(of: used).bytes, nil, expiresAt, binding, sealed.bytes])
    }
    let storage = try SQLiteCodeStorage(file: file)
    let redemption = CodeRedemption(
      storage: storage, keys: bench.keys, signing: bench.signing, tokenLifetime: 1_800,
      clock: bench.clock, randomness: SystemRandomness())
    #expect(try await redemption.token(for: used, keyHMAC: nil) == "a token")
    #expect(try await redemption.token(for: used, keyHMAC: Data(count: 32)) == nil)
    let token = try #require(try await redemption.token(for: live, keyHMAC: nil))
    #expect(try await bench.grant(of: token).symptomOnsetInterval == 2_999_952)
    bench.clock.advance(61)
    #expect(try await redemption.token(for: used, keyHMAC: nil) == nil)
    #expect(try await storage.removeExpired(at: bench.clock.now, atMost: 10) == 2)
    // Opening it again changes nothing.
    _ = try SQLiteCodeStorage(file: file)
  }

  /// A database as the first version of this server left it.
  private func makeFirst(_ file: URL, _ fill: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
          INSERT INTO grdb_migrations VALUES ('codes');
          CREATE TABLE code (
            hash BLOB PRIMARY KEY NOT NULL, reportType TEXT NOT NULL, symptomOnsetInterval INTEGER,
            expiresAt INTEGER NOT NULL, binding BLOB, sealedToken BLOB) STRICT, WITHOUT ROWID;
          CREATE INDEX code_on_expiresAt ON code(expiresAt);
          """)
      try fill(database)
    }
    try queue.close()
  }
}
