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

  /// Commits so many keys.
  private func keep(_ keyCount: Int) async throws {
    let keys = try (0..<keyCount).map { _ in
      try StoreScene.key(
        bytes: SystemRandomness().bytes(16), nil, regions: ["PL"], travels: false,
        released: RunningKeyServer.start)
    }
    try await store.pool.write { try KeyInsertion(in: $0).insert(keys.map { StoredKey($0) }) }
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
    number("SELECT count(*) FROM diagnosis_key", in: folder.path("keys.sqlite"))
  }

  private func number(_ sql: String, in file: URL) -> Int? {
    let copy = folder.path("copy.sqlite")
    try? FileManager.default.removeItem(at: copy)
    try? FileManager.default.copyItem(at: file, to: copy)
    return try? DatabaseQueue(path: copy.path).read { try Int.fetchOne($0, sql: sql) }
  }

  /// Waits until the file holds so many keys.
  private func untilCopied(_ keyCount: Int) async throws {
    try await Patience.until { keysInFile ?? 0 >= keyCount }
    #expect(keysInFile ?? 0 >= keyCount)
  }

  @Test("A log one page short of its limit stays; on the limit it is copied, and no key is lost")
  func limit() async throws {
    let limit = SQLiteUpkeep().pagesInLogMax
    #expect(limit == SQLiteLimit.pagesInLog)
    let log = LogCopying(of: store.pool, pageCountMax: limit)
    try await keep(1_000)
    log.committed(pageCount: limit - 1)
    #expect(keysInFile ?? 0 == 0)
    log.committed(pageCount: 1)
    try await untilCopied(1_000)
    try await keep(1)
    #expect(try await keyCount == 1_001)
  }

  @Test("When the log has become long again it is copied again")
  func again() async throws {
    let log = LogCopying(of: store.pool, pageCountMax: 10)
    for round in 1...3 {
      try await keep(100)
      try await Patience.until {
        // What is told while the copying still ends begins no other.
        log.committed(pageCount: 10)
        return keysInFile ?? 0 >= 100 * round
      }
      #expect(try await keyCount == 100 * round)
      #expect(keysInFile == 100 * round)
    }
  }

  @Test("Uploads make the log long, and so does sorting their keys in")
  func uploads() async throws {
    let limit = 20 * SQLiteLimit.pagesOfOneUpload
    for (waiting, pages, uploads) in [(1_000_000, limit, 20), (100, limit + 100, 20)] {
      let file = folder.path("\(waiting).sqlite")
      let store = try SQLiteKeyStore(
        file: file, upkeep: SQLiteUpkeep(waitingKeysMax: waiting, pagesInLogMax: pages))
      for number in 0..<uploads {
        let keys = try (0..<5).map { _ in
          try StoreScene.key(
            bytes: SystemRandomness().bytes(16), nil, regions: ["PL"], travels: false,
            released: RunningKeyServer.start)
        }
        _ = try await store.accept(StoreScene.upload("\(number)", keys))
      }
      try await Patience.until { uploadsIn(file) ?? 0 == uploads }
      #expect(uploadsIn(file) == uploads)
    }
  }

  /// Uploads in the file itself, without the log beside it; nil while it is being written.
  private func uploadsIn(_ file: URL) -> Int? {
    number("SELECT count(*) FROM upload", in: file)
  }
}
