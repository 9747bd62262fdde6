// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Checks with a bad index, a busy server or a bad key file") struct BadServerTests {
  private static let signInPage = "<html><body>Sign in to use this network</body></html>"

  @Test("A sign-in page in place of the index fails the first check and does not set the cursor")
  func signInPage() async throws {
    let phone = try TestApp()
    phone.network.script("/index.txt", .text(Self.signInPage))
    let app = try phone.launch()
    #expect(await app.check() == .failed(.portal))
    #expect(await app.cursor == nil)
    #expect(await app.lastFailure == .portal)
    #expect(await app.currentState.lastCheck == nil)
  }

  @Test(
    "An index that omits a file that was not analysed does not pass over it",
    arguments: ["", TestApp.name(0), TestApp.name(2)])
  func omittedFile(index: String) async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let first = await app.currentState.lastCheck
    phone.publish(0..<3, except: [1: .response(404)])
    phone.clock.advance(by: 60)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.currentState.lastCheck == first)
    phone.network.script("/index.txt", .text(index))
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.cursor == TestApp.end(0))
    phone.network.script("/" + TestApp.name(1), .text("0123456789"))
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
  }

  @Test("Twenty files answered by 503 cause few requests, and Retry-After applies after a restart")
  func busy() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let busy = ScriptedNetwork.Reply.response(503, retryAfter: 600)
    phone.publish(-17..<3, except: Dictionary(uniqueKeysWithValues: (-17..<3).map { ($0, busy) }))
    let before = phone.network.requests.count
    #expect(await app.check() == .failed(.serverBusy))
    #expect(phone.network.requests.count - before <= 4 + DownloadLimit.filesAtOnce)
    phone.publish(-17..<3)
    let restarted = try phone.launch()
    let after = phone.network.requests.count
    phone.clock.advance(by: 599)
    #expect(await restarted.check() == .failed(.serverBusy))
    #expect(phone.network.requests.count == after)
    phone.clock.advance(by: 1)
    #expect(await restarted.check() == .checked(.none))
    // The pause of a clock that was set back does not last.
    phone.network.script("/index.txt", .response(503, retryAfter: 600))
    #expect(await restarted.check() == .failed(.serverBusy))
    phone.publish(-17..<3)
    phone.clock.advance(by: -TestApp.day)
    #expect(await restarted.check() == .checked(.none))
  }

  @Test("Without Retry-After the pause doubles with each refusal and has a limit")
  func growingPause() {
    var pause = ServerPause()
    let now = TestApp.noon
    let randomness = TestRandomness()
    var longest = NetworkLimit.pauseSecondsMin
    for _ in 0..<20 {
      pause.begin(at: now, retryAfterSeconds: nil, randomness: randomness)
      let seconds = pause.end?.timeIntervalSince(now) ?? 0
      #expect((longest / 2...longest).contains(seconds))
      longest = min(longest * 2, NetworkLimit.pauseSecondsMax)
    }
    pause.begin(at: now, retryAfterSeconds: .max, randomness: randomness)
    #expect(
      pause.end?.timeIntervalSince(now) == Double(NetworkLimit.retryAfterSecondsMax))
    pause.finish()
    #expect(pause == ServerPause())
  }

  @Test(
    "Failed downloads are repeated after growing pauses, and end after several failures in a row")
  func pauses() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(
      0..<20,
      except: Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, .fails(.unreachable)) }))
    let before = phone.network.requests.count
    let start = phone.clock.now
    #expect(await phone.checkWhileTimePasses(app) == .failed(.noConnection))
    let most = 3 + NetworkLimit.failuresInARowMax + DownloadLimit.filesAtOnce
    #expect(phone.network.requests.count - before <= most)
    #expect(phone.clock.now.timeIntervalSince(start) >= NetworkLimit.retrySeconds / 2)
  }

  @Test("The index and the configurations are requested with the version of the last response")
  func conditional() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    let names = Data(TestApp.name(0).utf8)
    phone.network.script("/index.txt", .response(200, names, tag: #""one""#), .response(304))
    #expect(await app.check() == .checked(.none))
    #expect(await app.check() == .checked(.none))
    #expect(
      phone.network.requests(for: "/index.txt").map { $0.headers["If-None-Match"] }
        == [nil, nil, #""one""#])
    #expect(await app.cursor == TestApp.end(0))
    let date = "Thu, 15 Oct 2020 12:00:00 GMT"
    #expect(
      ResponseVersion(entityTag: nil, lastModified: date)?.headers == ["If-Modified-Since": date])
    #expect(ResponseVersion(entityTag: "a\r\nb", lastModified: nil) == nil)
    #expect(ResponseVersion(entityTag: "", lastModified: nil) == nil)
  }

  @Test("A bad file costs few calls, and new files are analysed in every check of the day")
  func badFile() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = [TestApp.name(1)] }
    for count in 3...8 {
      phone.publish(0..<count)
      #expect(await app.check() == .failed(.filesMissing))
      phone.clock.advance(by: 4 * 3_600)
    }
    let calls = phone.script.state.detections
    #expect(calls.count <= 6 + DetectionLimit.searchCallsPerDayVersion2)
    // The files of the accepted calls.
    let analysed = calls.filter { !$0.contains(TestApp.name(1)) }.flatMap { $0 }
    #expect(analysed.sorted() == ([0] + (2..<8)).map(TestApp.name).sorted())
    #expect(await app.cursor == TestApp.end(0))
    phone.script.update { $0.refusedFiles = [] }
    phone.clock.advance(by: TestApp.day)
    try phone.serve(try phone.document(version: 2))
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(7))
  }

  @Test(
    "A response that is not the key file of its name is fetched again by the next check",
    arguments: [
      "", "<html>", TestApp.text(ofFile: TestApp.name(0)),
      TestApp.text(ofFile: "\(TestApp.end(0) + 1)-\(TestApp.end(1))-00001.zip"),
    ])
  func damagedTransfer(content: String) async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3, except: [1: .text(content)])
    if !content.hasPrefix("header") { phone.countsOnlyFiles(of: 10) }
    let strict = try phone.launch()
    #expect(await strict.check() == .failed(.filesMissing))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(2)]])
    #expect(phone.keyFiles.isEmpty)
    phone.publish(0..<3)
    #expect(await strict.check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
    _ = app
  }

  @Test("A key file fits a name with its start and end")
  func facts() throws {
    let names = try ["1600000000-1600014400-00001.zip", "1600014400-00001.zip"].map {
      try #require(KeyFileName($0))
    }
    func fits(_ start: UInt64, _ end: UInt64) -> [Bool] {
      let facts = KeyFileFacts(start: start, end: end, region: "PL", keyCount: 1)
      return names.map { facts.match($0) }
    }
    #expect(fits(1_600_000_000, 1_600_014_400) == [true, true])
    #expect(fits(1_600_000_001, 1_600_014_400) == [false, true])
    #expect(fits(1_600_000_000, 1_600_014_401) == [false, false])
  }

  @Test("A file of a region that the framework refuses is not passed to it, and is fetched again")
  func otherRegion() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.trust.refuse(region: "PL")
    for _ in 1...2 {
      #expect(await app.check() == .failed(.filesMissing))
      #expect(phone.script.state.detections.isEmpty)
    }
    phone.trust.refuse(region: "DE")
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(1)]])
  }

  @Test(
    "An index that once listed less, or had a damaged line or a byte order mark, loses no file",
    arguments: [
      TestApp.name(2), "\(TestApp.name(0))\n\(TestApp.name(1).dropLast())\n\(TestApp.name(2))",
      "\u{FEFF}\(TestApp.name(0))\n\(TestApp.name(2))",
    ])
  func partialIndex(index: String) async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3)
    let whole = Data((0..<3).map(TestApp.name).joined(separator: "\n").utf8)
    // A damaged transfer has the version of the whole index.
    let isDamaged = index.contains(".zi\n")
    phone.network.script(
      "/index.txt", .response(200, Data(index.utf8), tag: isDamaged ? "1" : nil),
      .response(200, whole, tag: "1"))
    #expect(await app.check() == .checked(.none))
    #expect(try await phone.launch().check() == .checked(.none))
    let detected = Set(phone.script.state.detections.flatMap(\.self))
    #expect(detected == Set((0..<3).map(TestApp.name)))
    #expect(await app.cursor == TestApp.end(2))
    let last = phone.network.requests(for: "/index.txt").last
    #expect(!isDamaged || last?.headers["If-None-Match"] == nil)
  }

  @Test("A clock that is days behind fails the check, and the risk is not known")
  func clockBehind() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let end = Int64(phone.clock.now.timeIntervalSince1970 + TestApp.day) + 1
    phone.network.index(["\(end)-00001.zip"])
    #expect(await app.check() == .failed(.clockWrong))
    #expect(try await phone.launch().riskLevel == .unknown)
    phone.network.index([])
    #expect(await app.check() == .checked(.none))
  }

  @Test(
    "Without a key file of the last fourteen days, checks fail, the risk is not known, and the user is told"
  )
  func noKeyFiles() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    let age = phone.clock.now.timeIntervalSince1970 - Double(TestApp.end(0))
    try await phone.pass(14 * TestApp.day - age - 1, in: app)
    try phone.serve(try phone.document(version: 2))
    for index in [[TestApp.name(0)], []] {
      phone.network.index(index)
      #expect(await app.check() == .checked(.none))
    }
    phone.clock.advance(by: 1)
    #expect(await app.check() == .failed(.noKeyFiles))
    #expect(await app.riskLevel == .unknown)
    phone.clock.advance(by: 2 * TestApp.day)
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.checksFailing(.noKeyFiles)])
    // Files arrive, and stop again.
    let last = Int((phone.clock.now.timeIntervalSince1970 - Double(TestApp.firstEnd)) / 14_400)
    phone.publish(last..<last + 1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.notices.removed == [.checksFailing])
    phone.network.index([])
    try await phone.pass(15 * TestApp.day, in: app)
    try phone.serve(try phone.document(version: 3))
    #expect(await app.check() == .failed(.noKeyFiles))
    #expect(phone.notices.shown.count == 1)
    phone.clock.advance(by: 2 * TestApp.day)
    _ = try await phone.launch().check()
    let causes = [Notice.Cause.checksFailing(.noKeyFiles), .checksFailing(.noKeyFiles)]
    #expect(phone.notices.shown.map(\.cause) == causes)
  }

  @Test("A phone whose clock was ahead when it was turned on misses key files fourteen days later")
  func noKeyFilesAfterClockAhead() async throws {
    let phone = try TestApp()
    let (ahead, time) = (300 * TestApp.day, ManualClock(phone.clock.now))
    phone.network.states { time.now }
    phone.network.index([])
    phone.clock.jump(by: ahead)
    #expect(try await phone.launch().check() == .failed(.clockWrong))
    phone.clock.jump(by: -ahead)
    for (days, failure) in [(0, nil), (13, nil), (14, CheckFailure.noKeyFiles)] {
      phone.clock.advance(
        by: TestApp.noon.addingTimeInterval(Double(days) * TestApp.day).timeIntervalSince(
          phone.clock.now))
      time.advance(by: phone.clock.now.timeIntervalSince(time.now))
      try phone.serve(try phone.document(version: 2 + days))
      for _ in 1...2 {
        let app = try phone.launch()
        #expect(await app.check() == failure.map(CheckOutcome.failed) ?? .checked(.none), "\(days)")
        #expect(await app.riskLevel == (failure == nil ? .none : .unknown))
      }
    }
  }

  @Test("A device configuration that is missing or forged for two days fails the checks")
  func configurationFailing() async throws {
    let phone = try TestApp()
    _ = try await phone.launchedAfterFirstCheck()
    for reply in [ScriptedNetwork.Reply.response(404), .text("<html></html>")] {
      phone.network.script(TestApp.deviceConfigurationPath, reply)
      let app = try phone.launch()
      #expect(await app.check() == .checked(.none))
      phone.clock.advance(by: 2 * TestApp.day - 1)
      #expect(await app.check() == .checked(.none))
      phone.clock.advance(by: 1)
      #expect(try await phone.launch().check() == .failed(.notConfigured))
      phone.clock.advance(by: 1)
      try phone.serve(try phone.document(version: 2))
      #expect(try await phone.launch().check() == .checked(.none))
    }
  }

  @Test("A file that was refused for an unknown key is analysed as soon as the key is trusted")
  func unknownKey() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = [TestApp.name(0)] }
    phone.publish(0..<1)
    #expect(await app.check() == .failed(.filesMissing))
    phone.script.update { $0.refusedFiles = [] }
    var document = try phone.document(version: 2)
    try phone.serve(document)
    #expect(await app.check() == .failed(.filesMissing))
    document.version = 3
    document.keys.append(
      .init(
        keyID: "260", keyVersion: "v2",
        publicKey: P256.Signing.PrivateKey().publicKey.pemRepresentation))
    try phone.serve(document)
    #expect(await app.check() == .checked(.none))
    // The same with the next file and key, after a restart.
    phone.script.update { $0.refusedFiles = [TestApp.name(1)] }
    phone.publish(0..<2)
    #expect(try await phone.launch().check() == .failed(.filesMissing))
    phone.script.update { $0.refusedFiles = [] }
    document.version = 4
    document.keys.append(
      .init(
        keyID: "260", keyVersion: "v3",
        publicKey: P256.Signing.PrivateKey().publicKey.pemRepresentation))
    try phone.serve(document)
    #expect(try await phone.launch().check() == .checked(.none))
  }
}

@Suite("Silent framework") struct SilentFrameworkTests {
  @Test("Without a match the framework is not asked for exposures, so the system shows no question")
  func noMatch() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.infoRequestCount == 0)
    phone.script.update { $0.matchedKeyCount = 1 }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.infoRequestCount == 1)
  }

  @Test("A framework that never responds ends the check at the deadline; the next one continues")
  func deadline() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.script.update { $0.isSilent = true }
    async let outcome = app.check()
    await Patience.yielding {
      !phone.script.state.detections.isEmpty && phone.clock.sleeperCount > 0
    }
    phone.clock.advance(by: FrameworkLimit.callSeconds)
    #expect(await outcome == .failed(.systemSilent))
    phone.script.update { $0.isSilent = false }
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(0))
  }
}
