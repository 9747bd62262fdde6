// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("The phone's clock against the time that the server's responses state")
struct PhoneClockTests {
  private static let hour: TimeInterval = 3_600
  private static let year = 365 * TestApp.day

  /// A phone whose clock is right, and whose server states its time.
  func scene() async throws -> (TestApp, ExposureApp, ManualClock) {
    let phone = try TestApp()
    let time = ManualClock(TestApp.noon)
    phone.network.states { time.now }
    return (phone, try await phone.launchedAfterFirstCheck(), time)
  }

  /// Both the phone's clock and the server's advance.
  func pass(_ seconds: TimeInterval, _ phone: TestApp, _ time: ManualClock) {
    phone.clock.advance(by: seconds)
    time.advance(by: seconds)
  }

  @Test(
    "A clock that is hours or years off is told at once, twice if it happens twice, and the risk is not known",
    arguments: [3 * hour, -3 * hour, 2 * year, -2 * year])
  func wrong(ahead: TimeInterval) async throws {
    let (phone, _, time) = try await scene()
    for round in 1...2 {
      phone.clock.advance(by: ahead)
      try phone.serve(try phone.document(version: 2 * round))
      for _ in 0..<2 {
        let app = try phone.launch()
        #expect(await app.check() == .failed(.clockWrong))
        #expect(await app.riskLevel == .unknown)
        #expect(await app.lastFailure == .clockWrong)
        #expect(await app.currentState.notices == [.clockWrong])
      }
      #expect(phone.notices.shown == Array(repeating: Notice(.clockWrong), count: round))
      phone.clock.advance(by: -ahead)
      try phone.serve(try phone.document(version: 2 * round + 1))
      let app = try phone.launch()
      #expect(await app.check() == .checked(.none))
      #expect(await app.currentState.notices == [])
      pass(Self.hour, phone, time)
    }
  }

  @Test("A difference up to the limit is no failure", arguments: [1.0, -1.0])
  func limit(sign: Double) async throws {
    let (phone, app, _) = try await scene()
    phone.clock.advance(by: sign * Self.hour)
    #expect(await app.check() == .checked(.none))
    phone.clock.advance(by: sign)
    #expect(await app.check() == .failed(.clockWrong))
  }

  @Test(
    "A device configuration that seems expired because the clock is years ahead is no failure of its own"
  )
  func expired() async throws {
    let phone = try TestApp()
    let time = ManualClock(TestApp.noon)
    phone.network.states { time.now }
    phone.network.index([])
    phone.clock.advance(by: 2 * Self.year)
    let app = try phone.launch()
    #expect(await app.check() == .failed(.clockWrong))
    phone.clock.advance(by: -2 * Self.year)
    #expect(await app.check() == .checked(.none))
  }

  @Test(
    "The clock of a network that answers in place of the server does not count",
    arguments: [
      "<html>Sign in</html>", "", "Sign in", #"{"error":"sign in"}"#,
      "\u{FEFF}<html>Sign in</html>",
    ])
  func portal(body: String) async throws {
    let (phone, app, time) = try await scene()
    let paths = [TestApp.deviceConfigurationPath, TestApp.configurationPath, "/index.txt"]
    phone.network.states { Date(timeIntervalSince1970: 0) }
    for path in paths { phone.network.script(path, .text(body)) }
    for _ in 0..<2 {
      let outcome = await app.check()
      #expect(outcome != .failed(.clockWrong))
      #expect(!body.hasPrefix("<") || outcome == .failed(.portal))
      #expect(await !app.isClockWrong)
      #expect(await app.currentState.notices == [])
    }
    // Nor does it make a wrong clock right.
    phone.network.states { time.now }
    phone.clock.advance(by: -3 * Self.hour)
    phone.network.index([])
    try phone.serve(try phone.document(version: 2))
    #expect(await app.check() == .failed(.clockWrong))
    let portalTime = phone.clock.now
    phone.network.states { portalTime }
    for path in paths { phone.network.script(path, .text(body)) }
    _ = await app.check()
    #expect(await app.isClockWrong)
  }

  @Test("A slow network and an old date of a cache do not make a clock wrong")
  func comparison() throws {
    let (sent, received) = (TestApp.noon, TestApp.noon.addingTimeInterval(5 * Self.hour))
    func ahead(_ seconds: TimeInterval, age: TimeInterval = 0) -> TimeInterval? {
      NetworkResponse(status: 200, date: sent.addingTimeInterval(seconds), ageSeconds: age)
        .secondsAhead(sent: sent, received: received)
    }
    #expect(NetworkResponse(status: 200).secondsAhead(sent: sent, received: received) == nil)
    #expect(ahead(-Self.hour) == Self.hour)
    #expect(ahead(4 * Self.hour) == 0)
    #expect(ahead(6 * Self.hour) == -Self.hour)
    // A cache that passes on the date, and one that renews it.
    #expect(ahead(-2 * Self.hour, age: 2 * Self.hour) == 0)
    #expect(ahead(0, age: 2 * Self.hour) == 0)
    #expect(ahead(5 * Self.hour, age: 2 * Self.hour) == 0)
    var comparison = ClockComparison()
    for seconds in [Self.hour, 0, -Self.hour, 0] { comparison.note(secondsAhead: seconds) }
    #expect(comparison.secondsAhead == -Self.hour)
  }

  @Test("A check through a cache that renews the date and states an age finds a right clock right")
  func renewedDate() async throws {
    let (phone, app, _) = try await scene()
    phone.network.statesAge(2 * Self.hour)
    #expect(await app.check() == .checked(.none))
    // The age hides at most two hours of a clock that is ahead, and none of one that is behind.
    phone.clock.advance(by: -2 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
    phone.clock.advance(by: 6 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
  }

  @Test("A refuted verdict without a stated time does not hide a clock that is set back later")
  func setBackAfterRefutation() async throws {
    let phone = try TestApp()
    let clock = phone.clock
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.index(["4070908800-4070923200-00001.zip"])
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.states(at: "verification.test") { clock.now }
    _ = await app.check()
    #expect(await !app.isClockWrong)
    clock.advance(by: -2 * TestApp.day)
    for _ in 1...2 {
      _ = await app.check()
      #expect(await app.isClockWrong)
    }
  }

  @Test("With an unchanged index, files are recorded as analysed with a wrong clock as well")
  func unchangedIndex() async throws {
    let (phone, app, _) = try await scene()
    let index = Data(TestApp.name(0).utf8)
    phone.network.script(
      "/index.txt", .response(200, index, tag: "one"), .response(304, tag: "one"))
    let file = "/" + TestApp.name(0)
    phone.network.script(file, .response(404), .text("0123456789"))
    #expect(await app.check() == .failed(.filesMissing))
    phone.clock.advance(by: -3 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
    phone.clock.advance(by: 3 * Self.hour)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(0)], [TestApp.name(0)]])
  }

  @Test("A pause that only the wrong clock sees is a failure; one of that time is a pause")
  func pause() async throws {
    let (phone, app, time) = try await scene()
    var document = try phone.document(version: 2)
    document.pause = .init(until: document.issued + 86_400)
    try phone.serve(document)
    time.advance(by: 2 * TestApp.day)
    for _ in 0..<2 { #expect(await app.check() == .failed(.clockWrong)) }
    phone.addKey(daysAgo: 3)
    #expect(
      await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false).reason == .clockWrong)
    time.advance(by: -1.5 * TestApp.day)
    #expect(await app.check() == .paused)
  }

  @Test("After a clock was years ahead, no device configuration is failing since the future")
  func failingSince() async throws {
    let (phone, app, _) = try await scene()
    phone.network.script(TestApp.deviceConfigurationPath, .response(404))
    phone.clock.advance(by: 2 * Self.year)
    _ = await app.check()
    phone.clock.advance(by: -2 * Self.year)
    _ = await app.check()
    #expect(await app.store.state.configurationFailingSince == phone.clock.now)
  }

  @Test("Files that were analysed while the clock was wrong are analysed again when it is right")
  func analysedAgain() async throws {
    let (phone, app, _) = try await scene()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    phone.clock.advance(by: -3 * Self.hour)
    phone.publish(0..<2)
    #expect(await app.check() == .failed(.clockWrong))
    phone.clock.advance(by: 3 * Self.hour)
    #expect(try await phone.launch().check() == .checked(.none))
    let again = [[TestApp.name(0)], [TestApp.name(1)], [TestApp.name(1)]]
    #expect(phone.script.state.detections == again)
    // Once is enough.
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections == again)
  }

  @Test("A response that is older than a day states no time")
  func oldResponse() async throws {
    let (phone, app, _) = try await scene()
    let clock = phone.clock
    phone.network.states { clock.now.addingTimeInterval(-5 * TestApp.day) }
    phone.network.statesAge(3 * TestApp.day)
    #expect(await app.check() == .checked(.none))
    #expect(await !app.isClockWrong)
  }

  @Test(
    "A clock that is wrong by weeks for two days removes no data that the right time keeps",
    arguments: [true, false])
  func retention(hasSecondSource: Bool) async throws {
    let (phone, app, time) = try await scene()
    if !hasSecondSource { phone.network.states(at: "verification.test") { nil } }
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    for _ in 0..<3 {
      pass(TestApp.day / 2, phone, time)
      _ = await app.check()
    }
    for (round, ahead) in [20 * TestApp.day, -20 * TestApp.day, 20 * TestApp.day].enumerated() {
      phone.clock.advance(by: ahead)
      for _ in 0..<8 {
        pass(6 * Self.hour, phone, time)
        _ = try await phone.launch().check()
      }
      phone.clock.advance(by: -ahead)
      try phone.serve(try phone.document(version: 2 + round))
      let restarted = try phone.launch()
      #expect(await restarted.check() == .checked(.high))
      #expect(await restarted.checks.count == 1)
    }
    // Old data still expires.
    for _ in 0..<30 {
      pass(TestApp.day / 2, phone, time)
      _ = await app.check()
    }
    #expect(try await phone.launch().store.state.exposures.isEmpty)
  }

  @Test(
    "A header that states the same time for weeks keeps no old data, also with days between the checks",
    arguments: [true, false], [(days: 0.5, checks: 60), (days: 3, checks: 16)])
  func standingHeader(isSecondSourceRight: Bool, gap: (days: Double, checks: Int)) async throws {
    let (phone, app, _) = try await scene()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    let (standing, clock) = (phone.clock.now, phone.clock)
    phone.network.states { standing }
    // Without it, two sources are wrong in the same way.
    if isSecondSourceRight { phone.network.states(at: "verification.test") { clock.now } }
    for number in 1...gap.checks {
      phone.clock.advance(by: gap.days * TestApp.day)
      let restarted = try phone.launch()
      _ = await restarted.check()
      // Nothing is removed too early.
      if Double(number) * gap.days < 14 {
        #expect(await restarted.exposures.count == 1, "check \(number)")
      }
    }
    #expect(try await phone.launch().store.state.exposures.isEmpty)
  }

  @Test("A file of the far future in the index of a server without a time keeps no old data")
  func futureFile() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    phone.network.index([TestApp.name(0), "4070908800-4070923200-00001.zip"])
    for _ in 1...60 {
      phone.clock.advance(by: TestApp.day / 2)
      _ = try await phone.launch().check()
    }
    #expect(try await phone.launch().isClockWrong)
    #expect(try await phone.launch().store.state.exposures.isEmpty)
  }

  @Test("The framework learns of the wrong clock when the store is opened again")
  func openedAgain() async throws {
    let (phone, app, _) = try await scene()
    phone.clock.advance(by: 3 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
    #expect(phone.trust.isClockWrong)
    let key = try #require(phone.sealingKey)
    phone.sealingKey = nil
    let closed = try phone.launch()
    #expect(!phone.trust.isClockWrong)
    try await closed.startOver(with: key)
    #expect(phone.trust.isClockWrong)
    // A directory in place of the file cannot be read.
    phone.sealingKey = key
    let file = phone.folder.appendingPathComponent("Store/state.sealed")
    let content = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let unreadable = try phone.launch()
    #expect(await unreadable.storage == .unreadable)
    #expect(!phone.trust.isClockWrong)
    try FileManager.default.removeItem(at: file)
    try content.write(to: file)
    await unreadable.reopenStorage()
    #expect(await unreadable.storage == .ready)
    #expect(phone.trust.isClockWrong)
  }

  @Test("Files of days that a wrong clock has left out are downloaded when the index is unchanged")
  func leftOutFiles() async throws {
    let (phone, app, time) = try await scene()
    for _ in 0..<3 {
      pass(TestApp.day / 2, phone, time)
      _ = await app.check()
    }
    let index = Data(TestApp.name(0).utf8)
    phone.network.script(
      "/index.txt", .response(200, index, tag: "one"), .response(304, tag: "one"))
    phone.network.script("/" + TestApp.name(0), .response(404), .text("0123456789"))
    #expect(await app.check() == .failed(.filesMissing))
    phone.network.script("/" + TestApp.name(0), .response(404))
    phone.clock.advance(by: 20 * TestApp.day)
    for _ in 0..<8 {
      pass(6 * Self.hour, phone, time)
      _ = try await phone.launch().check()
    }
    phone.clock.advance(by: -20 * TestApp.day)
    try phone.serve(try phone.document(version: 2))
    phone.network.script(
      "/index.txt", .response(304, tag: "one"), .response(200, index, tag: "one"))
    phone.network.script("/" + TestApp.name(0), .text("0123456789"))
    for _ in 0..<2 {
      #expect(try await phone.launch().check() == .checked(.none))
      #expect(phone.script.state.detections == [[TestApp.name(0)]])
    }
    // The whole index is read again.
    #expect(phone.network.requests(for: "/index.txt").last?.headers["If-None-Match"] == nil)
  }

  @Test(
    "The device configuration that has expired meanwhile is no success although the server still has it"
  )
  func unchangedConfiguration() async throws {
    let phone = try TestApp()
    phone.network.index([])
    var document = try phone.document()
    document.expires = document.issued + 3_600
    let signed = try UnverifiedDeviceConfiguration.signed(document, by: phone.root).encoded()
    phone.network.script(
      TestApp.deviceConfigurationPath, .response(200, signed, tag: "one"), .response(304))
    #expect(try await phone.launch().check() == .checked(.none))
    phone.clock.advance(by: 3_600)
    let app = try phone.launch()
    #expect(await app.check() == .checked(.none))
    #expect(await app.configurationRefusal == .expired(document.expires))
    phone.clock.advance(by: 2 * TestApp.day)
    #expect(await app.check() == .failed(.notConfigured))
    #expect(await app.riskLevel == .unknown)
    phone.clock.advance(by: 2 * TestApp.day)
    #expect(await app.check() == .failed(.notConfigured))
    #expect(phone.notices.shown == [Notice(.checksFailing(.notConfigured))])
  }
}
