// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("The phone's clock against the time that the server's responses state")
struct PhoneClockTests {
  private static let hour: TimeInterval = 3_600
  private static let year = 365 * TestApp.day

  /// A phone whose clock is right, and whose server states its time.
  private func scene() async throws -> (TestApp, ExposureApp, ManualClock) {
    let phone = try TestApp()
    let time = ManualClock(TestApp.noon)
    phone.network.states { time.now }
    return (phone, try await phone.launchedAfterFirstCheck(), time)
  }

  /// Both the phone's clock and the server's advance.
  private func pass(_ seconds: TimeInterval, _ phone: TestApp, _ time: ManualClock) {
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
      #expect(phone.notices.shown == Array(repeating: Notice.clockWrong, count: round))
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
    phone.clock.advance(by: sign * ClockRule.differenceSecondsMax)
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

  @Test("The clock of a network that answers in place of the server does not count")
  func portal() async throws {
    let (phone, app, _) = try await scene()
    phone.network.states { Date(timeIntervalSince1970: 0) }
    phone.network.script(TestApp.deviceConfigurationPath, .text("<html>Sign in</html>"))
    phone.network.script(TestApp.configurationPath, .text("<html>Sign in</html>"))
    phone.network.script("/index.txt", .text("<html>Sign in</html>"))
    #expect(await app.check() == .failed(.portal))
    #expect(await app.currentState.notices == [])
  }

  @Test("A slow network and an old date of a cache do not make a clock wrong")
  func comparison() throws {
    let (sent, received) = (TestApp.noon, TestApp.noon.addingTimeInterval(5 * Self.hour))
    func response(_ seconds: TimeInterval) -> NetworkResponse {
      NetworkResponse(status: 200, date: sent.addingTimeInterval(seconds))
    }
    var comparison = ClockComparison()
    comparison.note(NetworkResponse(status: 200), sent: sent, received: received)
    comparison.note(
      NetworkResponse(status: 503, date: .distantPast), sent: sent, received: received)
    #expect(comparison.secondsAhead == nil)
    comparison.note(response(-Self.hour), sent: sent, received: received)
    #expect(comparison.secondsAhead == Self.hour)
    comparison.note(response(4 * Self.hour), sent: sent, received: received)
    #expect(comparison.secondsAhead == 0)
    comparison.note(response(6 * Self.hour), sent: sent, received: received)
    #expect(comparison.secondsAhead == -Self.hour)
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

  @Test("Keys of days on which the clock was wrong, or that start later, are not uploaded")
  func keys() async throws {
    let (phone, app, time) = try await scene()
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    // Two days of the phone's calendar on which the clock is wrong, then two on which it is right.
    for ahead in [5 * Self.hour, 0, 0, 0] {
      phone.clock.advance(by: ahead)
      _ = await app.check()
      pass(TestApp.day, phone, time)
      _ = await app.check()
      phone.clock.advance(by: -ahead)
    }
    #expect(await app.check() == .checked(.none))
    for day in 1...4 { phone.addKey(daysAgo: day, number: 1) }
    let future = UInt32(phone.clock.now.timeIntervalSince1970 / 86_400) + 1
    phone.script.update {
      $0.keys.append((data: Data(repeating: 7, count: 16), start: future * 144, period: 144))
    }
    let periods = phone.script.state.keys.map { (start: $0.start, period: $0.period) }
    let preview = await app.uploadPreview(of: periods, diagnosis: .notStated)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    let body = try #require(phone.network.requests(for: TestApp.uploadPath).last?.body)
    let sent = try JSONDecoder().decode(UploadRequest.self, from: body).data
    let starts = sent.temporaryExposureKeys.map(\.rollingStartNumber).sorted()
    #expect(starts == [future - 3, future - 2].map { $0 * 144 })
    #expect(preview.count == starts.count)
  }

  @Test("If all keys were made while the clock was wrong, nothing is sent, and the PIN is not used")
  func noKeys() async throws {
    let (phone, app, time) = try await scene()
    phone.clock.advance(by: 2 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
    pass(TestApp.day, phone, time)
    #expect(await app.check() == .failed(.clockWrong))
    for day in [0, 1] { phone.addKey(daysAgo: day) }
    for _ in 0..<2 {
      let outcome = try await phone.launch().upload(
        pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome == UploadOutcome(result: .canceled, reason: .clockWrong))
    }
    #expect(phone.network.requests(for: TestApp.tokenPath).isEmpty)
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
    phone.clock.advance(by: NoticeRule.failingSeconds)
    #expect(await app.check() == .failed(.notConfigured))
    #expect(await app.riskLevel == .unknown)
    phone.clock.advance(by: NoticeRule.failingSeconds)
    #expect(await app.check() == .failed(.notConfigured))
    #expect(phone.notices.shown == [.checksFailing(.notConfigured)])
  }
}
