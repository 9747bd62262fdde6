import ExposureNotification
import Foundation
import Testing

@testable import ExposureApp

/// Documentation/App.md 7.
@Suite struct BackgroundTests {
  @Test("D34: a run reports success only where everything wanted was analysed")
  func realOutcome() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    let good = HandRun()
    #expect(await app.backgroundCheck(good) == .checked(.none))
    #expect(good.completions == [true])
    phone.network.script("/index.txt", .answer(503))
    let bad = HandRun()
    #expect(await app.backgroundCheck(bad) == .failed(.serverBusy))
    #expect(bad.completions == [false])
  }

  @Test("D32: a run asks for the next one, also when exposure notifications are not allowed")
  func alwaysAgain() async throws {
    let phone = try TestApp()
    phone.script.update { $0.authorization = .notAuthorized }
    let app = try phone.launch()
    let run = HandRun()
    #expect(await app.backgroundCheck(run) == .failed(.notAuthorized))
    #expect(run.completions == [false])
    let request = try #require(phone.scheduler.requests.first)
    #expect(phone.scheduler.requests.count == 1)
    #expect(request.identifier == "pl.gov.mc.protegosafe.exposure-notification")
    #expect(request.needsNetwork)
    #expect(request.earliest == phone.clock.now.addingTimeInterval(BackgroundRule.checkSeconds))
    #expect(phone.network.requests.isEmpty)
  }

  @Test("D33: expiry stops a detection in the middle; the next run finds cursor and files intact")
  func expiryInDetection() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionHangs = true }
    let run = HandRun()
    async let outcome = app.backgroundCheck(run)
    while phone.script.state.detections.isEmpty { await Task.yield() }
    run.timeIsUp()
    #expect(await outcome == .failed(.timeIsUp))
    #expect(run.completions == [false])
    #expect(await app.lastFailure == .timeIsUp)
    #expect(await app.cursor == 0)
    #expect(phone.keyFiles == [TestApp.name(0), TestApp.name(1)])
    phone.script.update { $0.detectionHangs = false }
    let fetched = phone.network.requests(for: "/" + TestApp.name(0)).count
    #expect(await app.backgroundCheck(HandRun()) == .checked(.none))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == fetched)
    #expect(await app.cursor == TestApp.end(1))
    #expect(await app.lastFailure == nil)
  }

  @Test("D33: expiry stops a download; what has come by then is kept")
  func expiryInDownload() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .hangs])
    let run = HandRun()
    async let outcome = app.backgroundCheck(run)
    while phone.keyFiles != [TestApp.name(0)] { await Task.yield() }
    run.timeIsUp()
    #expect(await outcome == .failed(.timeIsUp))
    #expect(phone.keyFiles == [TestApp.name(0)])
    #expect(await app.cursor == 0)
  }

  @Test("Two checks at the same time are one")
  func onlyOne() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.script("/index.txt", .hangs)
    let run = HandRun()
    async let first = app.backgroundCheck(run)
    while phone.network.requests(for: "/index.txt").count < 2 { await Task.yield() }
    #expect(await app.check() == .alreadyRunning)
    run.timeIsUp()
    #expect(await first == .failed(.timeIsUp))
  }

  @Test("Decoys go out at a moment drawn for each phone, as long as real requests and marked")
  func decoys() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    #expect(phone.network.requests(for: TestApp.uploadPath).isEmpty)
    phone.clock.move(by: Double(BackgroundRule.decoySeconds.upperBound))
    _ = await app.check()
    _ = await app.check()
    let upload = phone.network.requests(for: TestApp.uploadPath)
    let token = phone.network.requests(for: TestApp.tokenPath)
    #expect(upload.map { $0.body?.count } == [RequestPadding.uploadBytes])
    #expect(token.map { $0.body?.count } == [RequestPadding.tokenRequestBytes])
    #expect((upload + token).allSatisfy { $0.headers[UploadRequests.decoyHeader] != nil })
  }

  @Test("Decoys go on after the clock was set back by a year")
  func decoysAfterClockSetBack() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.clock.move(by: -HandClock.day * 365)
    _ = await app.check()
    #expect(phone.network.requests(for: TestApp.uploadPath).count == 1)
    _ = await app.check()
    #expect(phone.network.requests(for: TestApp.uploadPath).count == 1)
  }
}
