import DiagnosisKeyFile
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Exports 2: an export that is taken out and set up again")
struct ReaddedExportTests {
  let authority = Authority()
  let clock = TestClock(RunningKeyServer.start)
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Some time of the server, with the second export of the region or without it.
  private func run(
    twin: Bool, _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    var export = ExportConfiguration(filenameRoot: "twin", region: "PL")
    (export.minimumKeys, export.paddingRange) = (200, 0)
    try await RunningKeyServer.run(
      authority: authority, clock: clock, folder: folder,
      { $0.furtherExports = twin ? [export] : [] }, body)
  }

  /// Uploads three keys and closes their period, so many times; returns what was uploaded.
  private func periods(_ count: Int, of server: RunningKeyServer) async throws -> Set<String> {
    var sent: Set<String> = []
    for _ in 0..<count {
      sent.formUnion(try await server.uploadKeys())
      try await server.exportPeriod()
    }
    return sent
  }

  @Test("What it missed is in one padded file, and no file that is closed changes by it")
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
      // Who compares the two exports sees the same keys, made up or not.
      let often = try await server.allPublished().dropFirst()
      #expect(file.texts == often.reduce(into: []) { $0.formUnion($1.texts) })
      // And who asks for the closed files again, the same as then.
      try server.loseFiles()
      try await server.server.exportDue()
      let again = try await server.allPublished()
      #expect(again.prefix(closed.count).map(\.keys) == closed.map(\.keys))
      #expect(try await server.published(last).keys == file.keys)
    }
  }

  @Test("It begins no earlier than keys are kept, and goes on in step with the others")
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

  @Test("While it is out its files stay, none is written, and after 14 days they are gone")
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
      // Those that it keeps are kept whole.
      try Data().write(to: twin.appendingPathComponent(files[1]))
      try await server.server.exportDue()
      #expect(
        try UnverifiedKeyFile(at: twin.appendingPathComponent(files[1])).inspect().keyCount > 0)
      clock.advance(by: KeyServerLimit.retentionSeconds)
      try await server.server.removeOld()
      #expect(try names() == ["index.txt"])
      let last = try Data(contentsOf: twin.appendingPathComponent("index.txt"))
      #expect(last.isEmpty)
    }
  }

  @Test("Whoever removes its folder too does not stop the others")
  func folderGone() async throws {
    try await run(twin: true) { _ = try await periods(1, of: $0) }
    try FileManager.default.removeItem(at: folder.path("export/twin"))
    try await run(twin: false) { server in
      _ = try await periods(1, of: server)
      #expect(try await server.lines().count == 2)
      try await server.server.removeOld()
      #expect(!FileManager.default.fileExists(atPath: folder.path("export/twin").path))
    }
    // And set up again it has its files again, as they were.
    try await run(twin: true) { server in
      _ = try await periods(1, of: server)
      let often = try await server.allPublished()
      let twins = try await server.allPublished(of: "twin")
      #expect(twins.first?.keys == often.first?.keys)
      #expect(twins.count == 2)
    }
  }
}
