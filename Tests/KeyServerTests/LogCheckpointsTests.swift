// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing

@testable import KeyServer

@Suite("Checkpoints of the key database")
struct LogCheckpointsTests {
  private static let logPages = 50

  private let folder: TemporaryFolder
  private let store: SQLiteKeyStore

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteKeyStore(
      file: folder.path("keys.sqlite"), logPages: Self.logPages, lightLoadPause: .seconds(3_600))
  }

  /// Uploads a key with a token of its own. Each commit writes at least a page per table.
  private func upload(_ number: Int, to store: SQLiteKeyStore? = nil) async throws {
    let bytes = [UInt8(number >> 8), UInt8(number & 0xff)] + [UInt8](repeating: 1, count: 14)
    let key = try StoreScene.key(
      bytes: bytes, nil, regions: ["PL"], travels: false, released: StoreScene.now)
    _ = try await (store ?? self.store).accept(StoreScene.upload("token \(number)", [key]))
  }

  private func storedKeys(in file: URL) throws -> Int? {
    try DatabaseQueue(waitingAt: file.path).read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM diagnosis_key")
    }
  }

  /// Inserts keys until the log restarts.
  ///
  /// - Returns: The length of the log before that, and the number of keys.
  private func copied(
    _ store: SQLiteKeyStore, by commit: (_ number: Int) async throws -> Void
  ) async throws -> (longest: Int, commits: Int) {
    var (number, longest) = (0, 0)
    try await Patience.until {
      longest = max(longest, store.checkpoints.logPages)
      try await commit(number)
      number += 1
      return store.checkpoints.logPages < longest
    }
    return (longest, number)
  }

  private func insert(_ number: Int, into store: SQLiteKeyStore) throws {
    let bytes = [UInt8(number >> 8), UInt8(number & 0xff)] + [UInt8](repeating: 2, count: 14)
    try store.insert([
      StoreScene.key(
        bytes: bytes, nil, regions: ["PL"], travels: false, released: StoreScene.now)
    ])
  }

  @Test("A long write-ahead log is copied into the database file and restarted")
  func longLog() async throws {
    let (longest, commits) = try await copied(store) { try insert($0, into: store) }
    #expect(longest >= Self.logPages)
    // The file alone has the keys of the log that was copied.
    let copy = folder.path("copy.sqlite")
    try FileManager.default.copyItem(at: folder.path("keys.sqlite"), to: copy)
    #expect(try #require(try storedKeys(in: copy)) >= 1)
    try store.close()
    #expect(try storedKeys(in: folder.path("keys.sqlite")) == commits)
  }

  @Test("After single uploads, a shorter log is copied")
  func calm() async throws {
    let pages = 128 * Self.logPages
    let calm = try SQLiteKeyStore(
      file: folder.path("calm.sqlite"), logPages: pages, lightLoadPause: .zero)
    let (longest, _) = try await copied(calm) { try await upload($0, to: calm) }
    #expect((Self.logPages..<pages).contains(longest))
    try calm.close()
  }

  @Test("Single uploads that follow each other start no checkpoint before the log is long")
  func busy() async throws {
    // Without the pause, the first upload would start a checkpoint.
    let pages = Self.logPages
    let (longest, _) = try await copied(store) { try await upload($0) }
    #expect(longest >= pages)
    try store.close()
  }

  @Test("Commits beside a checkpoint do not have to sync what it has copied")
  func syncBesideCommits() async throws {
    let uploaders = 4
    try await withThrowingTaskGroup { group in
      for uploader in 0..<uploaders {
        group.addTask {
          for number in stride(from: uploader, to: 20_000, by: uploaders)
          where store.checkpoints.syncCount == 0 { try await upload(number) }
        }
      }
      try await group.waitForAll()
    }
    #expect(store.checkpoints.syncCount > 0)
    try store.close()
  }

  @Test("A log that a reader keeps from being copied is reported, and copied when the reader ends")
  func overdue() async throws {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let path = folder.path("keys.sqlite").path
    let reader = try DatabaseQueue(waitingAt: path, configuration: configuration)
    var number = 0
    // The pages that a transaction may still read are not overwritten.
    try reader.inDatabase { db in
      try db.beginTransaction(.deferred)
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM diagnosis_key")
    }
    while !store.isLogOverdue(), number < 10_000 {
      try await upload(number)
      number += 1
    }
    #expect(store.isLogOverdue())
    try reader.inDatabase { try $0.rollback() }
    try await Patience.until {
      try await upload(number)
      number += 1
      return !store.isLogOverdue()
    }
    #expect(!store.isLogOverdue())
    try store.close()
    #expect(try storedKeys(in: folder.path("keys.sqlite")) == number)
  }

  @Test("A store that is closed in the middle of a checkpoint ends it first")
  func closed() throws {
    try store.close()
    for round in 0..<20 {
      let file = folder.path("round-\(round).sqlite")
      let store = try SQLiteKeyStore(file: file, logPages: Self.logPages)
      for number in 0..<10 {
        let keys = try (0..<200).map { key in
          try StoreScene.key(
            bytes: [UInt8(number), UInt8(key)] + [UInt8](repeating: 1, count: 14), nil,
            regions: ["PL"], travels: false, released: StoreScene.now)
        }
        try store.insert(keys)
      }
      try store.close()
      #expect(try storedKeys(in: file) == 2_000)
    }
  }

  @Test("Every commit counts, also one that stores no upload")
  func otherCommits() async throws {
    var hasRestarted = false
    try await Patience.until {
      try await store.database.pool.write {
        try $0.execute(sql: "CREATE TABLE other (content BLOB)")
        try $0.execute(sql: "INSERT INTO other VALUES (zeroblob(4096 * \(Self.logPages)))")
        try $0.execute(sql: "DROP TABLE other")
      }
      let before = store.checkpoints.logPages
      try await store.database.pool.write {
        try $0.execute(sql: "CREATE TABLE small (content BLOB); DROP TABLE small")
      }
      hasRestarted = store.checkpoints.logPages < before
      return hasRestarted
    }
    #expect(hasRestarted)
  }
}
