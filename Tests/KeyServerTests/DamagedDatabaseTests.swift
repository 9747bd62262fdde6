import Foundation
import GRDB
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Key server: a database that cannot be read to its end")
struct DamagedDatabaseTests {
  private static let start = RunningKeyServer.midnight
  private static let keyCount = 3_000

  private func filled(_ file: URL) throws {
    try ExportWorkload.fill(
      file, region: "PL", keyCount: Self.keyCount, releasedFrom: Self.start,
      randomness: SystemRandomness())
  }

  /// How many keys one reading gives before it ends, well or not.
  private func read(_ file: URL) async throws -> (count: Int, error: (any Error)?) {
    try await SQLiteKeyStore(file: file).pool.read { db in
      let window = PeriodKeys(
        start: Self.start.wholeSeconds, end: Self.start.addingTimeInterval(14_400).wholeSeconds)
      var count = 0
      do {
        try window.forEachReleased(in: db) { _ in count += 1 }
        return (count, nil)
      } catch {
        return (count, error)
      }
    }
  }

  /// The bytes of `database` with one page of keys from its middle made unreadable.
  private func damaged(_ database: Data) throws -> Data {
    let size = SQLiteLimit.pageBytes
    let pages = database.count / size
    // A page that begins with 10 is a leaf of a table without row numbers: there, one of keys.
    let leaf = try #require((pages / 2..<pages).first { database[$0 * size] == 10 })
    var damaged = database
    damaged.replaceSubrange(
      leaf * size..<(leaf + 1) * size, with: Data(repeating: 0xEE, count: size))
    return damaged
  }

  @Test("A page that cannot be read ends the reading with an error, never as if it were the end")
  func damagedPage() async throws {
    let folder = try TemporaryFolder()
    let (whole, broken) = (folder.path("whole.sqlite"), folder.path("broken.sqlite"))
    try filled(whole)
    try damaged(try Data(contentsOf: whole)).write(to: broken)
    let reading = try await read(whole)
    #expect((reading.count, reading.error == nil) == (Self.keyCount, true))
    let ended = try await read(broken)
    #expect(ended.count < Self.keyCount)
    #expect((ended.error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT)
  }

  @Test(
    "A revision without its risk ends the reading: nothing is published with a risk that nobody gave"
  )
  func missingRisk() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path("keys.sqlite")
    try filled(file)
    let store = try SQLiteKeyStore(file: file)
    try await store.pool.write {
      try $0.execute(
        sql: """
          UPDATE diagnosis_key SET revised_released_at = released_at, revised_report_type = 1
          WHERE key_data = (SELECT max(key_data) FROM diagnosis_key)
          """)
    }
    let error = await #expect(throws: DatabaseError.self) {
      try await store.pool.read { db in
        let window = PeriodKeys(
          start: Self.start.wholeSeconds, end: Self.start.addingTimeInterval(14_400).wholeSeconds)
        try window.forEachReleased(in: db) { _ = try $0.key() }
      }
    }
    #expect(error?.resultCode == .SQLITE_CORRUPT)
  }
}
