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

  @Test("A log one key short of its limit stays; on the limit it is copied, and no key is lost")
  func limit() async throws {
    let limit = SQLiteLimit.keysInLog
    try await keep(limit - 1)
    #expect(try fileBytes < limit)
    try await keep(1)
    while try fileBytes < limit * TemporaryExposureKey.byteCount {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await keep(1)
    let count = try await store.pool.read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key")
    }
    #expect(count == limit + 1)
  }
}
