import ExposureKeys
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Exports: which file a key is in")
struct ExportWindowTests {
  @Test("Keys that come while the clock is set back are in the next file, and each in one")
  func clockSetBack() async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (0, 0) }) { server in
      let first = try await server.uploadKeys()
      try await server.exportPeriod()
      server.clock.advance(by: -10_000)
      let late = try await server.uploadKeys()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map(\.texts) == [first])
      server.clock.advance(by: 10_000)
      try await server.exportPeriod()
      #expect(try await server.allPublished().map(\.texts) == [first, late])
    }
  }

  @Test("A clock that is set back a year removes nothing and closes nothing")
  func yearBack() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let lines = try await server.lines()
      server.clock.advance(by: -365 * 86_400)
      try await server.server.exportDue()
      try await server.server.removeOld()
      #expect(try await server.lines() == lines)
      server.clock.advance(by: 365 * 86_400)
      let sent = try await server.uploadKeys()
      try await server.exportPeriod()
      #expect(try await server.published(try await server.lines()[1]).texts.isSuperset(of: sent))
    }
  }

  @Test(
    "5.16 A key that ended 15 days ago is taken and published, one interval more is not",
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

  @Test("A server that was away for three weeks closes what phones still want, and nothing older")
  func longAway() async throws {
    let (authority, clock) = (Authority(), TestClock(RunningKeyServer.start))
    let folder = try TemporaryFolder()
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      _ = try await server.uploadKeys()
    }
    clock.advance(by: 21 * 86_400)
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
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
