// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing

@Suite("Exports: periods and the clock")
struct ExportPeriodTests {
  @Test("Keys that are uploaded while the clock is set back are in the next file only")
  func clockSetBack() async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (0, 0) }) { server in
      let first = try await server.uploadKeys()
      try await server.exportPeriod()
      server.clock.advance(by: -3_600)
      let late = try await server.uploadKeys()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.texts) == [first])
      server.clock.advance(by: 3_600)
      try await server.exportPeriod()
      #expect(try await server.allPublished().map(\.texts) == [first, late])
    }
  }

  @Test("With the clock set back a year, nothing is removed or closed")
  func yearBack() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let lines = try await server.lines()
      server.clock.jump(by: -365 * 86_400)
      await #expect(throws: KeyServerError.self) { try await server.server.exportDue() }
      await #expect(throws: KeyServerError.self) { try await server.server.removeOld() }
      #expect(try await server.lines() == lines)
      server.clock.jump(by: 365 * 86_400)
      let sent = try await server.uploadKeys()
      try await server.exportPeriod()
      #expect(try await server.published(try await server.lines()[1]).texts.isSuperset(of: sent))
    }
  }

  @Test(
    "A key that ended 15 days ago is accepted and published, one that ended an interval earlier is rejected",
    arguments: [(2_160, true), (2_161, false)])
  func ageWindow(intervals: UInt32, isTaken: Bool) async throws {
    try await RunningKeyServer.run { server in
      let now = UInt32(server.clock.now.timeIntervalSince1970 / 600)
      let key = UploadKey(
        key: Data(repeating: 7, count: 16).base64EncodedString(),
        rollingStartNumber: now - intervals - 144)
      let answer = try await server.upload(server.request([key]))
      #expect(answer.status == (isTaken ? 200 : 400))
      try await server.exportPeriod()
      let texts = try await server.allPublished().map { $0.texts.contains(key.key) }
      #expect(texts == (isTaken ? [true] : []))
    }
  }

  @Test(
    "After three weeks of downtime, periods within the retention time are closed, older keys are removed"
  )
  func longAway() async throws {
    let (authority, clock) = (Authority(), ManualClock(RunningKeyServer.start))
    let folder = try TemporaryFolder()
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      _ = try await server.uploadKeys()
    }
    clock.advance(by: 21 * 86_400)
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      try ServerState.confirm(
        clock.now, in: server.configuration.databaseFile, schema: KeyServer.databaseSchema)
      try await server.server.exportDue()
      #expect(try await server.lines().isEmpty)
      let sent = try await server.uploadKeys()
      try await server.exportPeriod()
      #expect(try await server.allPublished().map { $0.texts.isSuperset(of: sent) } == [true])
      try await server.server.removeOld()
      let old = Int(RunningKeyServer.start.timeIntervalSince1970) + 86_400
      let query = "SELECT count(*) FROM diagnosis_key WHERE released_at < \(old)"
      #expect(try server.count(query) == 0)
    }
  }
}

@Suite("Exports: removing an export and adding it again")
struct ReaddedExportTests {
  let authority = Authority()
  let clock = ManualClock(RunningKeyServer.start)
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Runs the server with or without the second export of the region.
  private func run(
    twin: Bool, _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    var export = ExportConfiguration(filenameRoot: "twin", region: "PL")
    (export.minimumKeys, export.paddingRange) = (200, 0)
    try await RunningKeyServer.run(
      authority: authority, clock: clock, folder: folder,
      { $0.furtherExports = twin ? [export] : [] }, body)
  }

  /// Uploads three keys and closes their period, `count` times. Returns the uploaded keys.
  private func periods(_ count: Int, of server: RunningKeyServer) async throws -> Set<String> {
    var sent: Set<String> = []
    for _ in 0..<count {
      sent.formUnion(try await server.uploadKeys())
      try await server.exportPeriod()
    }
    return sent
  }

  @Test("The keys of the missed periods are in one padded file, and closed files do not change")
  func goesOn() async throws {
    try await run(twin: true) { _ = try await periods(1, of: $0) }
    var missed: Set<String> = []
    var closed: [PublishedFile] = []
    try await run(twin: false) { server in
      missed = try await periods(3, of: server)
      closed = try await server.allPublished()
    }
    try await run(twin: true) { server in
      try await server.server.exportDue()
      #expect(try await server.lines(of: "twin").count == 1)
      missed.formUnion(try await periods(1, of: server))
      let start = Int(RunningKeyServer.start.timeIntervalSince1970)
      let lines = try await server.lines(of: "twin")
      #expect(lines.last == "twin/\(start + 14_400)-\(start + 5 * 14_400)-00001.zip")
      let last = try #require(lines.last)
      let file = try await server.published(last)
      #expect(file.texts.isSuperset(of: missed) && file.keys.count >= 200)
      // Both exports contain the same keys, including the padding.
      let often = try await server.allPublished().dropFirst()
      #expect(file.texts == often.reduce(into: []) { $0.formUnion($1.texts) })
      // Closed files that are written again are the same.
      try server.loseFiles()
      try await server.server.exportDue()
      let again = try await server.allPublished()
      #expect(again.prefix(closed.count).map(\.keys) == closed.map(\.keys))
      #expect(try await server.allPublished(of: "twin").last?.keys == file.keys)
    }
  }

  @Test(
    "The first file begins within the retention time, and later periods match the other exports")
  func longGone() async throws {
    try await run(twin: true) { _ = try await periods(1, of: $0) }
    try await run(twin: false) { server in
      for _ in 0..<20 {
        clock.advance(by: 86_400)
        try await server.server.exportDue()
      }
    }
    try await run(twin: true) { server in
      _ = try await periods(2, of: server)
      try await server.server.removeOld()
      let names = try await server.lines(of: "twin").compactMap {
        KeyFileName(String($0.dropFirst(5)))
      }
      let starts = names.map { $0.startTimestamp ?? 0 }
      let now = Int64(clock.now.timeIntervalSince1970)
      #expect(starts == [now - 14_400 - 14 * 86_400, now - 14_400])
    }
  }

  @Test("The files of a removed export stay for 14 days, and no new ones are written")
  func takenOut() async throws {
    try await run(twin: true) { _ = try await periods(2, of: $0) }
    let twin = folder.path("export/twin")
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: twin.path).sorted()
    }
    let files = try names()
    #expect(files.count == 3)
    try await run(twin: false) { server in
      try FileManager.default.removeItem(at: twin.appendingPathComponent(files[0]))
      try await server.server.exportDue()
      #expect(try names() == Array(files.dropFirst()))
      let index = try String(contentsOf: twin.appendingPathComponent("index.txt"), encoding: .utf8)
      #expect(index == "twin/\(files[1])")
      // A truncated file is repaired.
      try Data().write(to: twin.appendingPathComponent(files[1]))
      try await server.server.exportDue()
      let name = try #require(try server.folderIndex(of: "twin").last)
      #expect(
        try UnverifiedKeyFile(at: twin.appendingPathComponent(name)).inspect().keyCount > 0)
      clock.advance(by: KeyServerLimit.retentionSeconds)
      try await server.server.removeOld()
      #expect(try names() == ["index.txt"])
      let last = try Data(contentsOf: twin.appendingPathComponent("index.txt"))
      #expect(last.isEmpty)
    }
  }

  @Test("If the folder of a removed export is deleted too, the other exports continue")
  func folderGone() async throws {
    try await run(twin: true) { _ = try await periods(1, of: $0) }
    try FileManager.default.removeItem(at: folder.path("export/twin"))
    try await run(twin: false) { server in
      _ = try await periods(1, of: server)
      #expect(try await server.lines().count == 2)
      try await server.server.removeOld()
      #expect(!FileManager.default.fileExists(atPath: folder.path("export/twin").path))
    }
    // After it is added again, its files are written again.
    try await run(twin: true) { server in
      _ = try await periods(1, of: server)
      let often = try await server.allPublished()
      let twins = try await server.allPublished(of: "twin")
      #expect(twins.first?.keys == often.first?.keys)
      #expect(twins.count == 2)
    }
  }
}
