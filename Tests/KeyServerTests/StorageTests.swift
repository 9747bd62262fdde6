import Crypto
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

@Suite("Servers 3: the key database")
struct StorageTests {
  private func store(_ folder: TemporaryFolder) throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: folder.path("keys.sqlite"),
      exports: [ExportConfiguration(filenameRoot: "", region: "PL")], at: RunningKeyServer.midnight)
  }

  @Test("A commit is on the disk before it is answered: the log is on, and synced at each commit")
  func durability() throws {
    let folder = try TemporaryFolder()
    let pool = try store(folder).pool
    let settings = try pool.writeWithoutTransaction { db in
      try ["journal_mode", "synchronous", "secure_delete", "page_size"].map {
        try String.fetchOne(db, sql: "PRAGMA \($0)")
      }
    }
    #expect(settings == ["wal", "2", "1", "\(SQLiteLimit.pageBytes)"])
  }

  @Test("A database of the first schema is brought up to date with its rows, and goes on working")
  func firstSchema() async throws {
    let (authority, folder) = (Authority(), try TemporaryFolder())
    let now = RunningKeyServer.start
    var (old, request): ([UploadKey], UploadRequest?) = ([], nil)
    // A server on another file says what an upload of that time was.
    try await RunningKeyServer.run(authority: authority) { server in
      old = server.keys(3)
      request = try await server.request(
        old, token: authority.token(at: now, lifetime: 1_800, id: "a-token-of-then"))
    }
    let sent = try #require(request)
    let schema = try FirstSchema(
      at: folder.path("keys.sqlite"), keys: old, releasedAt: now.addingTimeInterval(-7_200))
    try schema.addUpload(
      token: Data(SHA256.hash(data: Data("a-token-of-then".utf8))),
      upload: UploadDigest.of(sent, keys: sent.data.temporaryExposureKeys.map(SentKey.init)),
      keptUntil: RunningKeyServer.midnight.addingTimeInterval((12 + 24 + 1) * 3_600))
    try await RunningKeyServer.run(authority: authority, folder: folder) { server in
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 3)
      // The upload of then is answered again, and its token is no good for another.
      #expect(try await server.upload(sent).status == 200)
      let token = sent.data.verificationPayload
      #expect(try await server.upload(server.request(server.keys(), token: token)).status == 401)
      #expect(try await server.upload(server.request(server.keys(2))).status == 200)
      server.clock.advance(by: 14_400)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let exported = try await server.downloadedKeys(name).keys.map { Data($0.key.secretBytes) }
      #expect(Set(exported).isSuperset(of: old.compactMap { Data(base64Encoded: $0.key) }))
    }
  }
}
