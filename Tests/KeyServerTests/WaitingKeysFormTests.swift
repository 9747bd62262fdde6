import ExposureKeys
import Foundation
import GRDB
import TestSupport
import Testing
import World

@testable import KeyServer

/// Documentation/KeyServer.md 3.
@Suite("Key server: the form of keys that wait")
struct WaitingKeysFormTests {
  /// A key of any shape that the table takes.
  private func anyKey(_ chance: inout SeededGenerator) throws -> StoredKey {
    var key = StoredKey(
      try StoreScene.key(
        bytes: (0..<16).map { _ in .random(in: 0...255, using: &chance) }, nil, regions: [],
        travels: .random(using: &chance), released: StoreScene.now),
      isPadding: .random(using: &chance))
    key.rollingStart = Int64(UInt32.random(in: 0...UInt32.max, using: &chance))
    key.rollingPeriod = .random(in: 1...144, using: &chance)
    key.transmissionRisk = .random(in: 0...8, using: &chance)
    let days = Int64.random(in: -15...15, using: &chance)
    key.daysSinceOnset = days == 15 ? nil : days
    key.reportType = [nil, 0, 1, 5, Int64(Int32.max)].randomElement(using: &chance) ?? nil
    key.releasedAt = .random(in: 0...4_000_000_000, using: &chance)
    let regions = ["PL", "CZ", "DE", "AT"].prefix(.random(in: 0...4, using: &chance))
    key.regions = regions.joined(separator: ",")
    return key
  }

  private func fields(_ key: StoredKey) -> [String] {
    ["\(key.words)", "\(key.rollingStart)", "\(key.rollingPeriod)", "\(key.transmissionRisk)"]
      + ["\(key.reportType as Any)", "\(key.daysSinceOnset as Any)", key.regions]
      + ["\(key.travels)", "\(key.releasedAt)", "\(key.isPadding)"]
  }

  @Test("Keys of every shape come back as they were, in the order of their bytes")
  func bytes() throws {
    var chance = SeededGenerator(seed: 18)
    for count in [1, 2, 14, 300] {
      let keys = try (0..<count).map { _ in try anyKey(&chance) }
      var read: [StoredKey] = []
      #expect(WaitingKeys.read(WaitingKeys.bytes(of: keys), into: &read))
      let sorted = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      #expect(read.map(fields) == sorted.map(fields))
    }
  }

  @Test(
    "Keys of every shape are in the table as they came: none takes anything from the one before")
  func inserted() async throws {
    var chance = SeededGenerator(seed: 20)
    let folder = try TemporaryFolder()
    let store = try SQLiteKeyStore(file: folder.path("keys.sqlite"))
    let keys = try (0..<300).map { _ in try anyKey(&chance) }
    let rows = try await store.pool.write { db in
      _ = try WaitingKeys(db: db).add(keys)
      try WaitingKeys(db: db).sortIn()
      return try Row.fetchAll(db, sql: "SELECT \(StoredKey.columns) FROM diagnosis_key").map(values)
    }
    let sorted = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    #expect(rows == sorted.map(values))
  }

  private func values(_ row: Row) -> [String] {
    [(row[0] as Data).base64EncodedString()]
      + (1...5).map { "\(row[$0] as Int64? as Any)" }
      + [row[6]] + (7...9).map { "\(row[$0] as Int64)" }
  }

  private func values(_ key: StoredKey) -> [String] {
    [key.bytes.base64EncodedString()]
      + [
        key.rollingStart, key.rollingPeriod, key.transmissionRisk, key.reportType,
        key.daysSinceOnset,
      ]
      .map { "\($0 as Int64? as Any)" }
      + [key.regions]
      + [key.travels ? 1 : 0, key.releasedAt, key.isPadding ? 1 : 0].map { "\($0)" }
  }

  @Test("Keys that are cut off anywhere, or of a form that is not known, are no keys at all")
  func damaged() throws {
    var chance = SeededGenerator(seed: 19)
    let keys = try (0..<3).map { _ in try anyKey(&chance) }
    let bytes = WaitingKeys.bytes(of: keys)
    let ends = Set(
      (1...3).map {
        WaitingKeys.bytes(
          of: Array(
            keys.sorted {
              $0.bytes.lexicographicallyPrecedes($1.bytes)
            }.prefix($0))
        ).count
      })
    for length in 0..<bytes.count where !ends.contains(length) && length != 1 {
      var read: [StoredKey] = []
      #expect(!WaitingKeys.read(bytes.prefix(length), into: &read), "\(length)")
    }
    var read: [StoredKey] = []
    #expect(!WaitingKeys.read(Data([2]) + bytes.dropFirst(), into: &read))
  }
}
