import GRDB
import TestSupport
import Testing

@testable import VerificationServer

@Suite("Documentation/VerificationServer.md 9.1: what was answered is on the disk")
struct DurabilityTests {
  @Test("The log is on and synced at each commit, and what is removed is overwritten")
  func settings() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("verification.sqlite")
    // The second time the file is there already, with its log turned on.
    for _ in 0..<2 {
      let pool = try SQLiteCodeStorage(file: file).pool
      let settings = try pool.writeWithoutTransaction { database in
        try ["journal_mode", "synchronous", "secure_delete"].map {
          try String.fetchOne(database, sql: "PRAGMA \($0)")
        }
      }
      #expect(settings == ["wal", "2", "1"])
      try pool.close()
    }
  }
}
