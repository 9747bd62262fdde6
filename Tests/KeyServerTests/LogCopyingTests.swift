import ExposureKeys
import Foundation
import GRDB
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

@Suite("Key server: the log is copied into the file beside the commits")
struct LogCopyingTests {
  private let folder: TemporaryFolder
  private let store: SQLiteKeyStore

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteKeyStore(
      file: folder.path("keys.sqlite"),
      exports: [ExportConfiguration(filenameRoot: "", region: "PL")], at: RunningKeyServer.midnight)
  }

  private func upload(_ keyCount: Int) throws -> AdmittedUpload {
    let now = RunningKeyServer.start
    let keys = try (0..<keyCount).map { _ in
      let key = try #require(
        TemporaryExposureKey(
          bytes: SystemRandomness().bytes(16), rollingStart: IntervalNumber(rawValue: 2_650_032)))
      return PublishableKey(
        key: try #require(DiagnosisKey(key: key)), regions: ["PL"], travels: false, releasedAt: now)
    }
    let onset = SymptomOnset(nil, at: now)
    return try AdmittedUpload(
      token: UsedToken(.init(tokenID: UUID().uuidString, issuedAt: now, expiresAt: now)),
      digest: Data(count: 32), keys: keys, revision: .leaveKnown,
      facts: UploadFacts(issuer: "", platform: .unknown, onset: onset, keys: [], at: now),
      answer: { _ in Data("{}".utf8) })
  }

  private func keep(_ keyCount: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in stride(from: 0, to: keyCount, by: 30) {
        let upload = try upload(min(30, keyCount - first))
        group.addTask { _ = try await store.accept(upload) }
      }
      try await group.waitForAll()
    }
  }

  private var fileBytes: Int {
    get throws {
      let file = folder.path("keys.sqlite").path
      return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }
  }

  private var keyCount: Int {
    get async throws {
      try await store.pool.read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key") ?? 0
      }
    }
  }

  /// Keys in the file itself, without the log beside it; nil while it is being written.
  private var keysInFile: Int? {
    let copy = folder.path("copy.sqlite")
    try? FileManager.default.removeItem(at: copy)
    try? FileManager.default.copyItem(at: folder.path("keys.sqlite"), to: copy)
    return try? DatabaseQueue(path: copy.path).read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key")
    }
  }

  /// Waits until the file holds so many keys.
  private func untilCopied(_ keyCount: Int) async throws {
    try await Patience.until { keysInFile ?? 0 >= keyCount }
    #expect(keysInFile ?? 0 >= keyCount)
  }

  @Test("A log one key short of its limit stays; on the limit it is copied, and no key is lost")
  func limit() async throws {
    let limit = SQLiteLimit.keysInLog
    try await keep(limit - 1)
    #expect(try fileBytes < limit)
    try await keep(1)
    try await untilCopied(limit)
    try await keep(1)
    #expect(try await keyCount == limit + 1)
  }

  @Test("When the log has become long again it is copied again")
  func again() async throws {
    let limit = SQLiteLimit.keysInLog
    try await keep(limit)
    try await untilCopied(limit)
    // So long that it is copied also where the first commits came while the copying still ended, and not so
    // long that SQLite would do it.
    try await keep(limit + limit / 4)
    try await untilCopied(2 * limit)
    #expect(try await keyCount == 2 * limit + limit / 4)
  }
}
