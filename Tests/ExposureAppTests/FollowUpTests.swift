// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import ExposureNotification
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing
import VerificationAPI
import World

@testable import ExposureApp

@Suite("Sharing of the keys of the days after an upload") struct FollowUpTests {
  private static let accepted = ScriptedNetwork.Reply.text(#"{"result":""}"#)
  private static let token = #"{"result":{"accessToken":"eyJ.t.s"}}"#
  private static let tokenAndPermit = #"{"result":{"accessToken":"eyJ.t.s","followUp":"permit_1"}}"#

  /// A phone that has shared its keys with a PIN.
  private func uploaded(
    _ reply: String = Self.tokenAndPermit, diagnosis: Diagnosis = .notStated
  ) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .text(reply), .text(Self.token))
    phone.network.script(TestApp.uploadPath, Self.accepted)
    let outcome = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: true, diagnosis: diagnosis)
    #expect(outcome == .success)
    return (phone, app)
  }

  /// The same after the user has agreed.
  private func agreed() async throws -> (TestApp, ExposureApp) {
    let (phone, app) = try await uploaded()
    #expect(await app.shareFollowingDays() == nil)
    return (phone, app)
  }

  /// Waits until seven o'clock (UTC) of the next day, with a key for the day that has ended.
  private func nextDay(_ phone: TestApp) throws {
    let now = phone.clock.now
    let next = Date(unixDay: now.unixDay + 1).addingTimeInterval(7 * 3_600)
    phone.clock.advance(by: next.timeIntervalSince(now))
    try phone.serve(try phone.document())
    phone.addKey(daysAgo: 1, number: UInt8(next.unixDay % 16))
  }

  private func uploads(_ phone: TestApp) throws -> [UploadRequest] {
    try phone.network.requests(for: TestApp.uploadPath).filter { !$0.isDecoy }.map {
      try JSONDecoder().decode(UploadRequest.self, from: $0.body ?? Data())
    }
  }

  private func tokenRequests(_ phone: TestApp) throws -> [AccessTokenRequest] {
    try phone.network.requests(for: TestApp.tokenPath).filter { !$0.isDecoy }.compactMap {
      try JSONDecoder().decode(
        CallableRequest<AccessTokenRequest>.self, from: $0.body ?? Data()
      ).data
    }
  }

  private func status(_ app: ExposureApp) async -> FollowUp.Status? {
    await app.currentState.followUp?.status
  }

  @Test("Each day's key is uploaded after the day has ended, once, also after restarts")
  func everyDay() async throws {
    let (phone, app) = try await agreed()
    _ = await app.check()
    #expect(try uploads(phone).count == 1)
    for day in 1...3 {
      try nextDay(phone)
      let restarted = try phone.launch()
      _ = await restarted.check()
      _ = await restarted.check()
      #expect(try uploads(phone).count == 1 + day)
      let keys = try #require(try uploads(phone).last?.data.temporaryExposureKeys)
      #expect(keys.map(\.rollingStartNumber) == [UInt32((phone.clock.now.unixDay - 1) * 144)])
      #expect(try uploads(phone).last?.isInteroperabilityEnabled == true)
      #expect(await restarted.currentState.reportedTest?.shared.count == 1 + day)
    }
    let requests = try tokenRequests(phone)
    #expect(requests.first?.wantsFollowUp == true)
    #expect(requests.map(\.followUp) == [nil, "permit_1", "permit_1", "permit_1"])
    #expect(requests.dropFirst().allSatisfy { $0.code == nil && $0.ekeyhmac != nil })
    #expect(Set(requests.map(\.ekeyhmac)).count == 4)
    #expect(phone.notices.shown.isEmpty)
  }

  @Test("Before the time that is drawn for a day, its key is not shared")
  func early() async throws {
    let (phone, app) = try await agreed()
    let now = phone.clock.now
    let midnight = Date(unixDay: now.unixDay + 1)
    let first = midnight.addingTimeInterval(3_600)
    phone.clock.advance(by: first.timeIntervalSince(now) - 1)
    try phone.serve(try phone.document())
    phone.addKey(daysAgo: 1, number: 5)
    for app in [app, try phone.launch()] {
      _ = await app.check()
      #expect(try uploads(phone).count == 1)
    }
  }

  @Test("The time of each day's upload is drawn from one to six o'clock (UTC)")
  func drawnTimes() throws {
    let randomness = TestRandomness()
    for _ in 0..<200 {
      var followUp = try #require(
        FollowUp(after: .notStated, isInteroperabilityEnabled: false, at: TestApp.noon))
      followUp.begin(randomness: randomness)
      for day in 1...2 {
        let midnight = Date(unixDay: TestApp.noon.unixDay + day)
        for (seconds, isDue) in [(3_599.0, false), (6 * 3_600, true)] {
          let due = followUp.dueDays(at: midnight.addingTimeInterval(seconds))
          #expect((due != nil) == isDue)
        }
        followUp.share(
          through: midnight.unixDay - 1, at: midnight.addingTimeInterval(7 * 3_600),
          randomness: randomness)
      }
    }
  }

  @Test("Without the user's consent nothing is shared, and the question is asked once")
  func declined() async throws {
    let (phone, app) = try await uploaded()
    #expect(await status(app) == .offered)
    try nextDay(phone)
    _ = await app.check()
    #expect(try uploads(phone).count == 1)
    try await app.endFollowingDays()
    #expect(await status(app) == .ended)
    #expect(await app.shareFollowingDays() == .nothingToShare)
    #expect(try await app.uploadRecord.followUp == nil)
  }

  @Test("If the system's question is answered with no, the offer stays and nothing is shared")
  func refusedBySystem() async throws {
    let (phone, app) = try await uploaded()
    phone.script.update { $0.preAuthorizationError = .notAuthorized }
    #expect(await app.shareFollowingDays() == .notAgreed)
    #expect(await status(app) == .offered)
  }

  @Test("A server without permits offers nothing")
  func olderServer() async throws {
    let (_, app) = try await uploaded(Self.token)
    #expect(await app.currentState.followUp == nil)
  }

  @Test("The user ends the sharing on the second day; no key leaves the phone afterwards")
  func endedByUser() async throws {
    let (phone, app) = try await agreed()
    try nextDay(phone)
    _ = await app.check()
    try await app.endFollowingDays()
    try nextDay(phone)
    let restarted = try phone.launch()
    _ = await restarted.check()
    #expect(try uploads(phone).count == 2)
    #expect(await status(restarted) == .ended)
    #expect(try await restarted.uploadRecord.followUp == nil)
  }

  @Test("The removal of all data ends the sharing, also for the next user of the phone")
  func removal() async throws {
    let (phone, app) = try await agreed()
    try await app.removeEverything()
    #expect(await app.currentState.followUp == nil)
    #expect(try await app.uploadRecord.followUp == nil)
    try nextDay(phone)
    #expect(await app.enable() == .enabled)
    _ = await app.check()
    #expect(try uploads(phone).count == 1)
    #expect(await app.shareFollowingDays() == .nothingToShare)
  }

  @Test("After the loss of the app's state nothing is shared until the user is asked again")
  func lostState() async throws {
    let (phone, _) = try await agreed()
    try phone.damage("state.sealed")
    try nextDay(phone)
    let app = try phone.launch()
    await app.start()
    _ = await app.check()
    #expect(try uploads(phone).count == 1)
    #expect(await app.currentState.followUp?.status == .offered)
  }

  @Test("A refused permit ends the sharing with one notice")
  func expired() async throws {
    let (phone, app) = try await agreed()
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    try nextDay(phone)
    _ = await app.check()
    _ = await app.check()
    #expect(try tokenRequests(phone).count == 2)
    #expect(try uploads(phone).count == 1)
    #expect(await status(app) == .refused)
    #expect(phone.notices.shown.map(\.cause) == [.followingDaysRefused])
    #expect(await app.store.state.refusedPINs.isEmpty)
  }

  @Test("A failure is reported, and a later attempt of the day repeats the same upload")
  func retries() async throws {
    let (phone, app) = try await agreed()
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), Self.accepted)
    try nextDay(phone)
    _ = await app.check()
    #expect(await app.currentState.followUpFailure == .noInternet)
    _ = await app.check()
    #expect(try uploads(phone).count == 2)
    phone.clock.advance(by: 60)
    let restarted = try phone.launch()
    _ = await restarted.check()
    let sent = try uploads(phone)
    #expect(sent.count == 3)
    #expect(sent[1].data.temporaryExposureKeys == sent[2].data.temporaryExposureKeys)
    // The token of the day is bound to one HMAC of them.
    #expect(Set(try tokenRequests(phone).dropFirst().map(\.ekeyhmac)).count == 1)
    #expect(await restarted.currentState.followUpFailure == nil)
    let sharedThrough = await restarted.currentState.followUp?.sharedThrough.number
    #expect(sharedThrough == phone.clock.now.unixDay - 1)
  }

  @Test("Days without a connection are shared together later; the last day completes the sharing")
  func lastDay() async throws {
    let (phone, app) = try await agreed()
    for _ in 0..<10 { try nextDay(phone) }
    _ = await app.check()
    #expect(try uploads(phone).last?.data.temporaryExposureKeys.count == 10)
    #expect(await status(app) == .active)
    try nextDay(phone)
    _ = await app.check()
    #expect(await status(app) == .complete)
    try nextDay(phone)
    _ = await app.check()
    #expect(try uploads(phone).count == 3)
    #expect(try await app.uploadRecord.followUp == nil)
  }

  @Test("The last day counts from the stated day; after the isolation nothing is offered")
  func statedDay() async throws {
    let today = UTCDay(of: TestApp.noon)
    let recent = Diagnosis.symptoms(day: CalendarDay(sameDateAs: UTCDay(today.number - 4)))
    let (_, app) = try await uploaded(diagnosis: recent)
    #expect(await app.currentState.followUp?.lastDay.number == today.number + 6)
    let old = Diagnosis.test(day: CalendarDay(sameDateAs: UTCDay(today.number - 11)))
    let (_, other) = try await uploaded(diagnosis: old)
    #expect(await other.currentState.followUp == nil)
  }

  @Test("An app that was killed between the two files of a complete upload still offers it")
  func killed() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .text(Self.tokenAndPermit), .text(Self.token))
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), Self.accepted)
    let today = UTCDay(of: TestApp.noon)
    let test = Diagnosis.test(day: CalendarDay(sameDateAs: UTCDay(today.number - 2)))
    _ = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true, diagnosis: test)
    let file = phone.folder.appendingPathComponent("Store/state.sealed")
    let before = try Data(contentsOf: file)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) == .success)
    try before.write(to: file)
    for _ in 1...2 {
      let restarted = try phone.launch()
      await restarted.start()
      #expect(await status(restarted) == .offered)
      #expect(await restarted.currentState.followUp?.lastDay.number == today.number + 8)
      #expect(await restarted.store.state.diagnosis == nil)
    }
    let restarted = try phone.launch()
    #expect(await restarted.shareFollowingDays() == nil)
    try nextDay(phone)
    _ = await restarted.check()
    // The consent for other countries is lost, so that it does not count.
    #expect(try uploads(phone).last?.isInteroperabilityEnabled == false)
    #expect(try tokenRequests(phone).last?.followUp == "permit_1")
  }

  @Test(
    "The day that was stated for a newer upload stays while the key of a following day is shared")
  func newerUpload() async throws {
    let (phone, app) = try await agreed()
    let day = CalendarDay(sameDateAs: UTCDay(UTCDay(of: TestApp.noon).number - 3))
    phone.network.script(TestApp.uploadPath, .fails(.interrupted))
    let outcome = await app.upload(
      pin: "D4E5F6", isInteroperabilityEnabled: true, diagnosis: .test(day: day))
    #expect(outcome.reason == .noInternet)
    try nextDay(phone)
    // The newer upload fails again, and then the key of the day is accepted.
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), Self.accepted)
    let restarted = try phone.launch()
    _ = await restarted.check()
    #expect(await restarted.currentState.reportedTest?.shared.count == 2)
    #expect(await restarted.currentState.reportedTest?.statedDay == nil)
    #expect(await restarted.store.state.statedDay == day)
    phone.clock.advance(by: 3_600)
    _ = await restarted.check()
    #expect(await restarted.currentState.reportedTest?.shared.count == 3)
    #expect(await restarted.currentState.reportedTest?.statedDay == day)
    #expect(await restarted.store.state.statedDay == nil)
  }

  @Test("A phone that was restored from an old copy loses one day, and shares it on the next one")
  func restoredCopy() async throws {
    let (phone, _) = try await agreed()
    let store = phone.folder.appendingPathComponent("Store")
    let copy = phone.temporary.path("copy")
    try FileManager.default.copyItem(at: store, to: copy)
    try nextDay(phone)
    _ = try await phone.launch().check()
    #expect(try uploads(phone).count == 2)
    try FileManager.default.removeItem(at: store)
    try FileManager.default.copyItem(at: copy, to: store)
    // The key server has accepted the token of this day with other keys.
    let used = Data(#"{"error":{"message":"","status":"UNAUTHENTICATED"}}"#.utf8)
    phone.network.script(TestApp.uploadPath, .response(401, used), Self.accepted)
    let restored = try phone.launch()
    for _ in 1...2 { _ = await restored.check() }
    #expect(try uploads(phone).count == 3)
    #expect(await status(restored) == .active)
    #expect(await restored.currentState.followUpFailure == .uploadRefused)
    try nextDay(phone)
    _ = try await phone.launch().check()
    let keys = try #require(try uploads(phone).last?.data.temporaryExposureKeys)
    let today = UInt32(phone.clock.now.unixDay)
    #expect(keys.map { $0.rollingStartNumber / 144 }.sorted() == [today - 2, today - 1])
    #expect(phone.notices.shown.isEmpty)
  }

  @Test("A record of an earlier version is read, and the stored form keeps permit and upload")
  func storedForm() throws {
    let key = ReleasedKey(
      bytes: ZeroingBytes(copying: Array(repeating: 7, count: 16)), rollingStartNumber: 2_670_000,
      rollingPeriod: 144)
    var record = UploadRecord()
    record.followUp = FollowUpMeans(
      permit: ZeroingBytes(copying: Array("permit".utf8)),
      pending: PendingUpload(
        pin: nil, keys: [key], hmacSecret: ZeroingBytes(copying: Array(repeating: 1, count: 32)),
        isInteroperabilityEnabled: false, at: TestApp.noon))
    #expect(UploadRecord(stored: record.stored) == record)
    let earlier: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1] + Array(repeating: 0, count: 24)
    #expect(UploadRecord(stored: ZeroingBytes(copying: earlier)) == UploadRecord())
  }
}
