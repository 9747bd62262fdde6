// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing
import VerificationAPI
import World

@testable import ExposureApp

@Suite("Uploads that the app finishes by itself") struct UploadContinuationTests {
  private static let accepted = ScriptedNetwork.Reply.text(#"{"result":""}"#)

  /// A phone whose upload got a token, and no response to its keys.
  private func interrupted(_ next: ScriptedNetwork.Reply) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for day in 1...3 { phone.addKey(daysAgo: day) }
    phone.network.script(TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.t.s"}}"#))
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), next)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true).reason == .noInternet)
    return (phone, app)
  }

  /// A phone whose token request got no response.
  private func withoutToken() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .fails(.interrupted))
    _ = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true)
    return (phone, app)
  }

  private func count(_ phone: TestApp) -> Int {
    phone.network.requests(for: TestApp.uploadPath).count
  }

  @Test("An upload with a token is finished after a restart, with one notice, and the PIN succeeds")
  func restart() async throws {
    let (phone, _) = try await interrupted(Self.accepted)
    let app = try phone.launch()
    _ = await app.check()
    _ = await app.check()
    #expect(count(phone) == 2)
    #expect(await !app.hasPendingUpload)
    #expect(phone.notices.shown.map(\.cause) == [.uploadFinished])
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) == .success)
    #expect(count(phone) == 2)
    #expect(phone.notices.removed == [.upload])
  }

  @Test("The schedule repeats an interrupted upload after growing pauses")
  func schedule() async throws {
    let (phone, app) = try await interrupted(.response(502))
    let work = Task { await app.runSchedule() }
    for minute in 1...10 {
      await Patience.yielding { phone.clock.sleeperCount == 1 }
      phone.clock.advance(by: 60)
      await Patience.yielding { phone.clock.sleeperCount == 1 }
      // At once, and after pauses of 1, 2, 4 and 8 minutes.
      let attempts = [0, 1, 3, 7, 15].filter { $0 <= minute }.count
      #expect(count(phone) == 1 + attempts, "\(minute)")
    }
    #expect(phone.notices.shown.isEmpty)
    phone.network.script(TestApp.uploadPath, Self.accepted)
    for _ in 1...10 {
      await Patience.yielding { phone.clock.sleeperCount == 1 }
      phone.clock.advance(by: 60)
    }
    try await Patience.until { phone.notices.shown.map(\.cause) == [.uploadFinished] }
    work.cancel()
    await work.value
  }

  @Test("An upload that cannot be finished is told once, after a last attempt with its token")
  func tooLate() async throws {
    let (phone, app) = try await interrupted(
      .response(401, Data(#"{"error":{"message":"","status":"UNAUTHENTICATED"}}"#.utf8)))
    phone.clock.advance(by: 30 * 60)
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    _ = await app.check()
    _ = await app.check()
    #expect(count(phone) == 2)
    #expect(phone.notices.shown.map(\.cause) == [.uploadUnfinished])
    #expect(await app.store.state.refusedPINs.isEmpty)
    phone.clock.advance(by: TestApp.day)
    _ = await app.check()
    #expect(phone.notices.removed == [.upload])
  }

  @Test(
    "A clock that jumps by days and back within minutes does not end an unfinished upload",
    arguments: [2.0, -2, 730, -730],
    [
      nil, .fails(.unreachable), .fails(.certificate), .fails(.certificateOutOfDate),
      .response(404), .response(429), .response(503), .text("<html>"),
    ] as [ScriptedNetwork.Reply?])
  func jump(days: Double, reply: ScriptedNetwork.Reply?) async throws {
    let (phone, _) = try await interrupted(.fails(.interrupted))
    let (start, uptime) = (phone.clock.now, phone.clock.reading.uptime)
    let clock = phone.clock
    phone.network.states { start.addingTimeInterval(clock.reading.uptime - uptime) }
    let online = try phone.document(version: 2)
    for _ in 1...2 {
      phone.clock.jump(by: days * TestApp.day)
      if let reply {
        for path in [TestApp.deviceConfigurationPath, TestApp.tokenPath, TestApp.uploadPath] {
          phone.network.script(path, reply)
        }
      }
      for _ in 1...3 {
        let restarted = try phone.launch()
        await restarted.finishUploadIfDue()
        phone.clock.advance(by: 60)
        _ = await restarted.check()
      }
      #expect(phone.notices.shown.map(\.cause).allSatisfy { $0 == .clockWrong })
      phone.clock.jump(by: -days * TestApp.day)
      try phone.serve(online)
      phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
      phone.network.script(TestApp.uploadPath, .fails(.interrupted))
    }
    phone.network.script(TestApp.uploadPath, Self.accepted)
    let restarted = try phone.launch()
    _ = await restarted.check()
    #expect(phone.notices.shown.map(\.cause).last == .uploadFinished)
    #expect(await !restarted.hasPendingUpload)
  }

  @Test("After a lost response, the expired token gets the first result from the key server")
  func expiredToken() async throws {
    let (phone, app) = try await interrupted(Self.accepted)
    phone.clock.advance(by: 30 * 60 + 600)
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) == .success)
    #expect(phone.network.requests(for: TestApp.tokenPath).count == 2)
    #expect(count(phone) == 2)
  }

  @Test("After the token has expired, an attempt without a connection is not the last one")
  func offlineAtTheEnd() async throws {
    let (phone, app) = try await interrupted(Self.accepted)
    phone.clock.advance(by: 30 * 60 + 600)
    phone.network.script(TestApp.tokenPath, .fails(.interrupted))
    _ = await app.check()
    #expect(phone.notices.shown.isEmpty)
    phone.clock.advance(by: 600)
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadFinished])
  }

  /// The state of the network for a week.
  enum Week: CaseIterable {
    case offline, busy, paused, standingHeader
  }

  @Test(
    "An upload that cannot be sent ends after three days, with one notice and an empty record",
    arguments: Week.allCases)
  func neverSent(_ week: Week) async throws {
    let (phone, _) = try await interrupted(.fails(.unreachable))
    let start = phone.clock.now
    let paths = [
      TestApp.deviceConfigurationPath, TestApp.configurationPath, TestApp.tokenPath,
      TestApp.uploadPath, "/index.txt",
    ]
    switch week {
    case .offline: for path in paths { phone.network.script(path, .fails(.unreachable)) }
    case .busy: for path in paths { phone.network.script(path, .response(503)) }
    case .paused:
      var document = try phone.document(version: 2)
      document.pause = DeviceConfiguration.Pause(until: nil)
      try phone.serve(document)
    case .standingHeader: phone.network.states { start }
    }
    for halfDays in 1...14 {
      phone.clock.advance(by: TestApp.day / 2)
      let app = try phone.launch()
      await app.start()
      _ = await app.check()
      let isOver = try await app.uploadRecord.pending == nil
      if halfDays < 6 { #expect(!isOver, "\(halfDays)") }
    }
    #expect(phone.notices.shown.count { $0.cause == .uploadUnfinished } == 1)
    let app = try phone.launch()
    #expect(try await app.uploadRecord == UploadRecord())
    #expect(await !app.hasPendingUpload)
  }

  @Test("The limit of an unfinished upload is to the second")
  func limit() {
    let limit = 3 * TestApp.day
    let pending = PendingUpload(
      pin: nil, keys: [], hmacSecret: ZeroingBytes(count: 32) { _ in },
      isInteroperabilityEnabled: false, at: TestApp.noon)
    for (seconds, isOver) in [(limit - 1, false), (limit, true), (limit + 1, true)] {
      for sign in [1.0, -1] {
        #expect(pending.isTooOld(at: TestApp.noon.addingTimeInterval(sign * seconds)) == isOver)
      }
    }
  }

  @Test("The notice of an upload stays while a wrong clock makes its end seem to have passed")
  func noticeOfWrongClock() async throws {
    let (phone, _) = try await interrupted(Self.accepted)
    let time = ManualClock(phone.clock.now)
    phone.network.states { time.now }
    _ = try await phone.launch().check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadFinished])
    // The phone trusts its clock after a day.
    for _ in 1...3 {
      for clock in [phone.clock, time] { clock.advance(by: TestApp.day / 2) }
      _ = try await phone.launch().check()
    }
    for ahead in [20 * TestApp.day, -20 * TestApp.day, 20 * TestApp.day, -20 * TestApp.day] {
      phone.clock.advance(by: ahead)
      let restarted = try phone.launch()
      await restarted.start()
      _ = await restarted.check()
    }
    #expect(!phone.notices.removed.contains(.upload))
  }

  @Test("The notice of an upload ends after its time while the clock is behind for weeks")
  func noticeOfClockBehind() async throws {
    let (phone, _) = try await interrupted(Self.accepted)
    let time = ManualClock(phone.clock.now)
    phone.network.states { time.now }
    _ = try await phone.launch().check()
    for halfDays in 1...30 {
      // The phone trusts its clock after a day.
      if halfDays == 4 { phone.clock.jump(by: -300 * TestApp.day) }
      for clock in [phone.clock, time] { clock.advance(by: TestApp.day / 2) }
      _ = try await phone.launch().check()
      if halfDays < 28 { #expect(!phone.notices.removed.contains(.upload), "\(halfDays)") }
    }
    #expect(phone.notices.removed.contains(.upload))
  }

  @Test("The notice of an upload of a time that lies ahead ends when the clock is right")
  func noticeOfClockAhead() async throws {
    let (phone, _) = try await interrupted(Self.accepted)
    _ = try await phone.launch().check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadFinished])
    let time = ManualClock(phone.clock.now.addingTimeInterval(-300 * TestApp.day))
    phone.network.states { time.now }
    _ = try await phone.launch().check()
    #expect(!phone.notices.removed.contains(.upload))
    phone.clock.jump(by: -300 * TestApp.day)
    try phone.serve(try phone.document(version: 2))
    _ = try await phone.launch().check()
    #expect(phone.notices.removed.contains(.upload))
  }

  @Test("A response that names skipped keys confirms the upload")
  func warnings() async throws {
    let (phone, app) = try await interrupted(
      .text(#"{"result":"","warnings":["Key 0: not valid yet"]}"#))
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadFinished])
  }

  @Test("The pause that a server asks for is kept, unless the clock is set back")
  func pause() {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    var continuation = UploadContinuation()
    #expect(continuation.isDue(at: now))
    continuation.fail(.serverBusy(retryAfterSeconds: 3_600), at: now)
    #expect(!continuation.isDue(at: now.addingTimeInterval(3_599)))
    #expect(continuation.isDue(at: now.addingTimeInterval(3_600)))
    #expect(continuation.isDue(at: now.addingTimeInterval(-1)))
  }

  @Test(
    "An upload without a token is not repeated, its end is told, and its PIN repeats the request")
  func noToken() async throws {
    let (phone, app) = try await withoutToken()
    _ = await app.check()
    #expect(phone.notices.shown.isEmpty)
    phone.clock.advance(by: 30 * 60)
    _ = await app.check()
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadUnfinished])
    #expect(phone.network.requests(for: TestApp.tokenPath).count == 1)
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, Self.accepted)
    let restarted = try phone.launch()
    await restarted.start()
    #expect(await restarted.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) == .success)
    let sent = phone.network.requests(for: TestApp.tokenPath).filter { !$0.isDecoy }
    let requests = try sent.map {
      try JSONDecoder().decode(
        CallableRequest<AccessTokenRequest>.self, from: $0.body ?? Data()
      ).data
    }
    #expect(requests.map(\.code) == ["A1B2C3", "A1B2C3"])
    #expect(Set(requests.map(\.ekeyhmac)).count == 1)
    #expect(requests.allSatisfy { $0.ekeyhmac != nil })
  }

  @Test(
    "An upload that the user begins while an older one is given up stays, and no notice is shown",
    arguments: [true, false])
  func newerUpload(isSent: Bool) async throws {
    let (phone, app) = try await withoutToken()
    phone.clock.advance(by: 30 * 60)
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, isSent ? Self.accepted : .fails(.interrupted))
    let signed = try UnverifiedDeviceConfiguration.signed(
      try phone.document(version: 2), by: phone.root)
    let response = ScriptedNetwork.Reply.response(200, try signed.encoded())
    phone.network.script(
      TestApp.deviceConfigurationPath,
      .after({ _ = await app.upload(pin: "D4E5F6", isInteroperabilityEnabled: true) }, response),
      response)
    _ = await app.check()
    #expect(count(phone) == 1)
    #expect(phone.notices.shown.isEmpty)
    let pending = try await app.uploadRecord.pending
    #expect((pending == nil) == isSent)
    #expect((pending?.token == nil) == isSent)
  }

  @Test("With an expired document, the time that its response states ends an upload")
  func expiredDocument() async throws {
    let (phone, app) = try await withoutToken()
    let clock = phone.clock
    phone.network.states { clock.now }
    var document = try phone.document(version: 2)
    document.expires = document.issued + 3_600
    try phone.serve(document)
    clock.advance(by: 3_600)
    for _ in 1...2 { _ = await app.check() }
    #expect(phone.notices.shown.map(\.cause) == [.uploadUnfinished])
    #expect(try await app.uploadRecord.pending != nil)
    clock.advance(by: TestApp.day)
    _ = await app.check()
    #expect(try await app.uploadRecord == UploadRecord())
  }

  @Test("A phone that was off for days says that the interrupted upload was not finished")
  func offForDays() async throws {
    let (phone, _) = try await interrupted(Self.accepted)
    phone.clock.advance(by: 3 * TestApp.day)
    let app = try phone.launch()
    await app.start()
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.uploadUnfinished])
    // The others are decoys.
    #expect(phone.network.requests(for: TestApp.uploadPath).filter { !$0.isDecoy }.count == 1)
    #expect(try await app.uploadRecord.pending == nil)
    // It is said once, also after another restart.
    let restarted = try phone.launch()
    await restarted.start()
    _ = await restarted.check()
    #expect(phone.notices.shown.count == 1)
  }
}

extension ExposureApp {
  /// The upload record, read again.
  var uploadRecord: UploadRecord {
    get throws { try context.uploads.load() }
  }

  var windowRisk: WindowRiskAssessment? { context.windowRisk }

  func keyFileDownload(from network: any Network) -> KeyFileDownload {
    checking.keyFileDownload(from: network)
  }
}
