// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Background checks") struct BackgroundTests {
  @Test("A background run reports success only if all pending files were analysed")
  func realOutcome() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    let good = ManualRun()
    #expect(await app.backgroundCheck(good) == .checked(.none))
    #expect(good.completions == [true])
    phone.network.script("/index.txt", .response(503))
    let bad = ManualRun()
    #expect(await app.backgroundCheck(bad) == .failed(.serverBusy))
    #expect(bad.completions == [false])
  }

  @Test("A background run schedules the next one even if exposure notifications are not allowed")
  func alwaysAgain() async throws {
    let phone = try TestApp()
    phone.script.update { $0.authorization = .notAuthorized }
    let app = try phone.launch()
    let run = ManualRun()
    #expect(await app.backgroundCheck(run) == .failed(.notAuthorized))
    #expect(run.completions == [false])
    let request = try #require(phone.scheduler.requests.first)
    #expect(phone.scheduler.requests.count == 1)
    #expect(request.identifier == "pl.gov.mc.protegosafe.exposure-notification")
    #expect(request.needsNetwork)
    #expect(request.earliest == phone.clock.now.addingTimeInterval(BackgroundRule.checkSeconds))
    #expect(phone.network.requests.isEmpty)
  }

  @Test("Expiration cancels a detection; the next run finds the cursor and files unchanged")
  func expiryInDetection() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionHangs = true }
    let run = ManualRun()
    async let outcome = app.backgroundCheck(run)
    await Patience.yielding { !phone.script.state.detections.isEmpty }
    run.timeIsUp()
    #expect(await outcome == .failed(.timeIsUp))
    #expect(run.completions == [false])
    #expect(await app.lastFailure == .timeIsUp)
    #expect(await app.cursor == 0)
    #expect(phone.keyFiles == [TestApp.name(0), TestApp.name(1)])
    phone.script.update { $0.detectionHangs = false }
    let fetched = phone.network.requests(for: "/" + TestApp.name(0)).count
    #expect(await app.backgroundCheck(ManualRun()) == .checked(.none))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == fetched)
    #expect(await app.cursor == TestApp.end(1))
    #expect(await app.lastFailure == nil)
  }

  @Test("Expiration cancels a download and keeps the files downloaded so far")
  func expiryInDownload() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .hangs])
    let run = ManualRun()
    async let outcome = app.backgroundCheck(run)
    await Patience.yielding { phone.keyFiles == [TestApp.name(0)] }
    run.timeIsUp()
    #expect(await outcome == .failed(.timeIsUp))
    #expect(phone.keyFiles == [TestApp.name(0)])
    #expect(await app.cursor == 0)
  }

  @Test("A check during another check joins it; a cancelled one leaves it alone")
  func onlyOne() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.network.script("/" + TestApp.name(0), .fails(.interrupted), .text("0123456789"))
    let run = ManualRun()
    async let first = app.backgroundCheck(run)
    // The download waits before it is repeated.
    try await Patience.until { phone.clock.sleeperCount == 1 }
    async let second = app.check()
    let third = Task { await app.check() }
    try await Patience.until { await app.checkWaiters.count == 2 }
    third.cancel()
    #expect(await third.value == .failed(.timeIsUp))
    phone.clock.advance(by: NetworkLimit.retrySeconds)
    #expect(await first == .checked(.none))
    #expect(await second == .checked(.none))
    #expect(phone.network.requests(for: "/index.txt").count == 2)
    #expect(await app.checkWaiters.isEmpty)
  }

  @Test("Decoys are sent at random times, marked, and as long as real requests")
  func decoys() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    #expect(phone.network.requests(for: TestApp.uploadPath).isEmpty)
    phone.clock.advance(by: Double(Decoys.intervalSeconds.upperBound))
    _ = await app.check()
    _ = await app.check()
    let upload = phone.network.requests(for: TestApp.uploadPath)
    let token = phone.network.requests(for: TestApp.tokenPath)
    #expect(upload.map { $0.body?.count } == [RequestPadding.uploadBytes])
    #expect(token.map { $0.body?.count } == [RequestPadding.tokenRequestBytes])
    #expect((upload + token).allSatisfy { $0.headers[Decoys.header] != nil })
  }

  @Test("Decoys continue after the clock was set back by a year")
  func decoysAfterClockSetBack() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.clock.advance(by: -TestApp.day * 365)
    _ = await app.check()
    #expect(phone.network.requests(for: TestApp.uploadPath).count == 1)
    _ = await app.check()
    #expect(phone.network.requests(for: TestApp.uploadPath).count == 1)
  }
}
