import Foundation
import KeyServer
import TestSupport
import Testing

@Suite("Servers 5.2: padding")
struct PaddingTests {
  private static func twin(_ root: String) -> ExportConfiguration {
    var export = ExportConfiguration(filenameRoot: root, region: "PL")
    (export.minimumKeys, export.paddingRange) = (1_000, 100)
    return export
  }

  @Test("5.2 Every padding key of a file is in the database, so that no second look tells it apart")
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
      // Another export of the region, and the file written again.
      #expect(try await server.allPublished(of: "twin").map(\.keys) == [first.keys])
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.keys) == [first.keys])
      #expect(try await server.allPublished(of: "twin").map(\.keys) == [first.keys])
    }
  }

  @Test(
    "A period on the minimum gets no padding, one key less gets one", arguments: [(13, 1), (14, 0)])
  func minimum(keys: Int, padding: Int) async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (14, 0) }) { server in
      _ = try await server.uploadKeys(keys)
      try await server.exportPeriod()
      #expect(try await server.allPublished().map(\.keys.count) == [14])
      #expect(try server.count("SELECT count(*) FROM diagnosis_key WHERE is_padding") == padding)
    }
  }

  @Test("Another export's padding counts where a file is split: no file is over the maximum")
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

  @Test("A file of padding alone, that of another export, has its minimum like every other")
  func paddingAlone() async throws {
    var daily = Self.twin("daily")
    (daily.periodSeconds, daily.minimumKeys, daily.paddingRange) = (86_400, 60, 0)
    try await RunningKeyServer.run({
      ($0.minimumKeys, $0.paddingRange) = (50, 0)
      $0.furtherExports = [daily]
    }) { server in
      // Noon to four: three keys, padded to 50. Four to eight, eight to midnight: nobody. At midnight the
      // day needs ten more, and the four hours before it have those ten and no key of anybody's.
      let sent = try await server.uploadKeys(3)
      for _ in 0..<3 { try await server.exportPeriod() }
      let often = try await server.allPublished()
      #expect(often.map(\.keys.count) == [50, 50])
      #expect(often.first?.texts.isSuperset(of: sent) == true)
      let day = try await server.allPublished(of: "daily").map(\.texts)
      #expect(day == [often.reduce(into: []) { $0.formUnion($1.texts) }])
    }
  }

  @Test("Padding travels as its shape does, so that a travellers' export does not give it away")
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

  @Test("A file keeps its keys when keys come late, and when the server's rules change")
  func rulesOfThen() async throws {
    let (authority, clock) = (Authority(), TestClock(RunningKeyServer.start))
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
      clock.advance(by: -7_200)
      _ = try await server.uploadKeys()
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.texts) == before)
    }
  }
}
