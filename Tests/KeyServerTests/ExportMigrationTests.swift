import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("A database of the first schema with files")
struct ExportMigrationTests {
  private func text(_ number: UInt8) -> String {
    Data(repeating: number, count: 16).base64EncodedString()
  }

  /// A period that was split into two files of three keys, and a key that waits since before its end.
  private func firstSchema(in folder: TemporaryFolder, start: Int64) throws {
    let schema = try FirstSchema(at: folder.path("keys.sqlite"), keys: [], releasedAt: .distantPast)
    let queue = try DatabaseQueue(path: schema.file.path)
    try queue.write { db in
      try db.execute(
        sql: "INSERT INTO export_progress VALUES ('PL', ?)", arguments: [start + 14_400])
      for file in 0..<2 {
        try db.execute(
          sql: "INSERT INTO batch (region, start_at, end_at) VALUES ('PL', ?, ?)",
          arguments: [start, start + 14_400 + Int64(file)])
      }
      for number in UInt8(1)...7 {
        let batch: Int? = number == 7 ? nil : (number <= 3 ? 1 : 2)
        try db.execute(
          sql: "INSERT INTO diagnosis_key VALUES (?, ?, 144, 1, 1, 2, 'PL', 0, ?, 0, ?)",
          arguments: [
            Data(repeating: number, count: 16), start / 600 - 288, start - 3_600, batch,
          ])
      }
    }
  }

  @Test(
    "Its files are listed and written again with the keys they had; what waited is in the next one")
  func files() async throws {
    let (folder, clock) = (try TemporaryFolder(), TestClock(RunningKeyServer.start))
    let start = Int64(RunningKeyServer.start.timeIntervalSince1970)
    try firstSchema(in: folder, start: start)
    clock.advance(by: 14_400)
    try await RunningKeyServer.run(
      clock: clock, folder: folder, { ($0.minimumKeys, $0.paddingRange) = (0, 0) }
    ) { server in
      try await server.exportPeriod()
      let ends = [14_400, 14_401, 28_800].map { start + Int64($0) }
      let starts = [start, start, start + 14_400]
      #expect(
        try await server.lines() == zip(starts, ends).map { "\($0)-\($1)-00001.zip" })
      let keys = try await server.allPublished().map(\.texts)
      #expect(keys == [Set((1...3).map(text)), Set((4...6).map(text)), [text(7)]])
    }
  }
}
