// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import TestSupport
import Testing

@Suite("Padding of key files")
struct PaddingTests {
  private static func twin(_ root: String) -> ExportConfiguration {
    var export = ExportConfiguration(filenameRoot: root, region: "PL")
    (export.minimumKeys, export.paddingRange) = (1_000, 100)
    return export
  }

  @Test("Every padding key of a file is stored, so that all exports and rewritten files have it")
  func allPersisted() async throws {
    try await RunningKeyServer.run({
      ($0.minimumKeys, $0.paddingRange) = (1_000, 100)
      $0.furtherExports = [Self.twin("twin")]
    }) { server in
      let sent = try await server.uploadKeys(7)
      try await server.exportPeriod()
      let first = try #require(try await server.allPublished().first)
      #expect((1_000...1_100).contains(first.keys.count))
      let stored = try server.count("SELECT count(*) FROM diagnosis_key WHERE is_padding")
      #expect(stored == first.keys.count - sent.count)
      // Another export of the region, and a file that is written again.
      #expect(try await server.allPublished(of: "twin").map(\.keys) == [first.keys])
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.keys) == [first.keys])
      #expect(try await server.allPublished(of: "twin").map(\.keys) == [first.keys])
    }
  }

  @Test(
    "A period with the minimum of keys gets no padding, one with a key less gets one",
    arguments: [(13, 1), (14, 0)])
  func minimum(keys: Int, padding: Int) async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (14, 0) }) { server in
      _ = try await server.uploadKeys(keys)
      try await server.exportPeriod()
      #expect(try await server.allPublished().map(\.keys.count) == [14])
      #expect(try server.count("SELECT count(*) FROM diagnosis_key WHERE is_padding") == padding)
    }
  }

  @Test("Padding of another export counts when a file is split: no file exceeds the maximum")
  func splitWithPadding() async throws {
    var padded = Self.twin("padded")
    (padded.minimumKeys, padded.paddingRange) = (25, 0)
    try await RunningKeyServer.run({
      ($0.minimumKeys, $0.paddingRange, $0.maximumKeysPerFile) = (0, 0, 10)
      $0.furtherExports = [padded]
    }) { server in
      _ = try await server.uploadKeys(7)
      try await server.exportPeriod()
      #expect(try await server.allPublished(of: "padded").map(\.keys.count) == [25])
      let counts = try await server.allPublished().map(\.keys.count)
      #expect(counts.reduce(0, +) == 25 && counts.count == 3)
      #expect(counts.allSatisfy { $0 <= 10 }, "\(counts)")
    }
  }

  @Test("A file of padding only, from another export, has the minimum of keys too")
  func paddingAlone() async throws {
    var daily = Self.twin("daily")
    (daily.periodSeconds, daily.minimumKeys, daily.paddingRange) = (86_400, 60, 0)
    try await RunningKeyServer.run({
      ($0.minimumKeys, $0.paddingRange) = (50, 0)
      $0.furtherExports = [daily]
    }) { server in
      // Noon to 16:00: three keys, padded to 50. 16:00 to 20:00 to midnight: no uploads. At midnight the day needs
      // ten more keys, so the four hours before have those ten and nothing else.
      let sent = try await server.uploadKeys(3)
      for _ in 0..<3 { try await server.exportPeriod() }
      let often = try await server.allPublished()
      #expect(often.map(\.keys.count) == [50, 50])
      #expect(often.first?.texts.isSuperset(of: sent) == true)
      let day = try await server.allPublished(of: "daily").map(\.texts)
      #expect(day == [often.reduce(into: []) { $0.formUnion($1.texts) }])
      // Of the hundred keys three are real, and the daily file has the padding of both others.
      for export in ["''", "'daily'"] {
        let counted = "SELECT sum(padding) FROM export_file WHERE export = \(export)"
        #expect(try server.count(counted) == 97)
      }
    }
  }

  @Test(
    "Padding is marked as travelling like real keys, so that an export of travellers does not reveal it"
  )
  func travelling() async throws {
    var travellers = Self.twin("travellers")
    travellers.travellers = .only
    try await RunningKeyServer.run({ $0.furtherExports = [travellers] }) { server in
      let sent = try await server.uploadKeys(3, travels: true)
      try await server.exportPeriod()
      let all = try #require(try await server.allPublished().first)
      let travelling = try #require(try await server.allPublished(of: "travellers").first)
      #expect(all.texts == travelling.texts)
      #expect(all.texts.isSuperset(of: sent) && all.keys.count >= 1_000)
    }
  }

  @Test("A file keeps its keys if keys arrive late and if the configuration changes")
  func rulesOfThen() async throws {
    let (authority, clock) = (Authority(), ManualClock(RunningKeyServer.start))
    let folder = try TemporaryFolder()
    var before: [Set<String>] = []
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      _ = try await server.uploadKeys()
      _ = try await server.uploadKeys(regions: ["CZ"])
      try await server.exportPeriod()
      before = try await server.allPublished().map(\.texts)
    }
    try await RunningKeyServer.run(
      authority: authority, clock: clock, folder: folder, { $0.region = "CZ" }
    ) { server in
      clock.advance(by: -3_600)
      _ = try await server.uploadKeys()
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.texts) == before)
    }
  }
}
