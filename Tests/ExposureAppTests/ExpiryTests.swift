// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("The app's data while the phone's clock is wrong for weeks, and when it is right again")
struct ExpiryTests {
  private static let hour: TimeInterval = 3_600

  let phone: TestApp
  let app: ExposureApp
  /// The true time, which the server states.
  let time = ManualClock(TestApp.noon)

  /// A phone that trusts its clock, with an encounter of `TestApp.noon` and a notice about it.
  init() async throws {
    let (phone, time) = (try TestApp(), time)
    self.phone = phone
    phone.network.states { time.now }
    app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    for _ in 0..<3 { _ = await pass(12, app) }
  }

  /// Lets hours pass and checks.
  @discardableResult private func pass(_ hours: Double, _ app: ExposureApp) async -> CheckOutcome {
    phone.clock.advance(by: hours * Self.hour)
    time.advance(by: hours * Self.hour)
    return await app.check()
  }

  /// The true age of the encounter's day.
  private var age: TimeInterval {
    time.now.timeIntervalSince(UTCDay(of: TestApp.noon).start)
  }

  @Test(
    "An encounter and its notice end after 14 days and a day at most, also while the clock is behind or ahead",
    arguments: [-300.0, -5, 300], [true, false])
  func wrongForWeeks(days: Double, isRestarted: Bool) async throws {
    phone.clock.jump(by: days * TestApp.day)
    let late = TestApp.day + (days == -5 ? 5 * TestApp.day : 0)
    var app = app
    while age < 14 * TestApp.day + late + TestApp.day / 2 {
      if isRestarted { app = try phone.launch() }
      await pass(12, app)
      let count = await app.store.state.exposures.count
      if age < 14 * TestApp.day { #expect(count == 1, "\(age / TestApp.day)") }
      #expect(phone.notices.removed.contains(.risk) == (count == 0))
    }
    #expect(await app.store.state.exposures.isEmpty)
  }

  @Test(
    "A month forward, back and forward again removes nothing, with a start in between each time")
  func toAndFro() async throws {
    for round in 1...12 {
      for ahead in [30.0, -30] {
        phone.clock.jump(by: ahead * TestApp.day)
        // One removal before the clock was compared, and one after that.
        let app = try phone.launch()
        await app.start()
        await pass(0.5, app)
        await pass(0.5, app)
      }
      let app = try phone.launch()
      #expect(await app.exposures.count == 1, "round \(round)")
      #expect(await app.checks.count == 1)
    }
    #expect(!phone.notices.removed.contains(.risk))
    #expect(phone.notices.risks == [.high])
    while age < 15 * TestApp.day { await pass(12, app) }
    #expect(await app.store.state.exposures.isEmpty)
    #expect(phone.notices.removed.contains(.risk))
  }

  @Test(
    "Without a network, a clock before the last signed document is wrong, and removes nothing for days",
    arguments: [true, false])
  func beforeSignedDocument(isRestarted: Bool) async throws {
    let paths = [TestApp.deviceConfigurationPath, TestApp.configurationPath, "/index.txt"]
    let since1970 = TestApp.noon.timeIntervalSince1970
    for round in 1...2 {
      for path in paths { phone.network.script(path, .fails(.unreachable)) }
      phone.clock.jump(by: -since1970)
      for _ in 0..<8 {
        await pass(6, isRestarted ? try phone.launch() : app)
        #expect(phone.trust.isClockWrong)
      }
      phone.clock.jump(by: since1970)
      try phone.serve(try phone.document(version: 1 + round))
      phone.publish(0..<1)
      let again = isRestarted ? try phone.launch() : app
      #expect(await again.check() == .checked(.high), "round \(round)")
      #expect(await again.checks.count == 1)
      #expect(!phone.trust.isClockWrong)
    }
    #expect(phone.notices.risks == [.high])
  }
}
