// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("The positive test that the user has reported") struct ReportedTestTests {
  private static let today = CalendarDay(sameDateAs: UTCDay(of: TestApp.noon))

  private func phone(
    _ first: ScriptedNetwork.Reply, _ second: ScriptedNetwork.Reply = accepted
  ) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for day in 1...3 { phone.addKey(daysAgo: day) }
    phone.network.script(TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.t.s"}}"#))
    phone.network.script(TestApp.uploadPath, first, second)
    return (phone, app)
  }

  private static let accepted = ScriptedNetwork.Reply.text(#"{"result":""}"#)

  private func upload(
    _ app: ExposureApp, _ pin: String = "A1B2C3", _ diagnosis: Diagnosis = .notStated
  ) async -> UploadOutcome {
    await app.upload(pin: pin, isInteroperabilityEnabled: false, diagnosis: diagnosis)
  }

  @Test("It has the stated day, or that of the first sharing in the user's time zone")
  func days() async throws {
    for stated in [nil, Self.today.adding(days: -4)] {
      let (phone, app) = try await phone(Self.accepted)
      #expect(await app.currentState.reportedTest == nil)
      let diagnosis = stated.map { Diagnosis.symptoms(day: $0) } ?? .notStated
      #expect(await upload(app, "A1B2C3", diagnosis) == .success)
      for app in [app, try phone.launch()] {
        let test = try #require(await app.currentState.reportedTest)
        #expect(test.shared == [phone.clock.now])
        #expect(test.day(in: .gmt) == stated ?? Self.today)
        let island = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
        #expect(test.day(in: island) == stated ?? Self.today.adding(days: 1))
      }
    }
  }

  @Test("An interrupted upload that the app finishes keeps the stated day")
  func interrupted() async throws {
    let (phone, app) = try await phone(.fails(.interrupted))
    let day = Self.today.adding(days: -2)
    #expect(await upload(app, "A1B2C3", .test(day: day)).reason == .noInternet)
    #expect(await app.currentState.reportedTest == nil)
    let restarted = try phone.launch()
    _ = await restarted.check()
    #expect(await restarted.currentState.reportedTest?.statedDay == day)
  }

  @Test("Sharing later keys adds a time and keeps the day, and the same PIN again adds nothing")
  func again() async throws {
    let (phone, app) = try await phone(Self.accepted)
    let day = Self.today.adding(days: -1)
    _ = await upload(app, "A1B2C3", .test(day: day))
    let first = phone.clock.now
    phone.clock.advance(by: 3_600)
    #expect(await upload(app) == .success)
    #expect(await app.currentState.reportedTest?.shared == [first])
    phone.clock.advance(by: TestApp.day)
    #expect(await upload(app, "D4E5F6", .test(day: Self.today)) == .success)
    let test = await app.currentState.reportedTest
    #expect(test?.shared == [first, phone.clock.now] && test?.statedDay == day)
  }

  @Test(
    "An app that was killed between the two files of a complete upload notes the sharing at the next launch or check",
    arguments: [true, false])
  func killed(starts: Bool) async throws {
    let (phone, app) = try await phone(.fails(.interrupted))
    let day = Self.today.adding(days: -2)
    _ = await upload(app, "A1B2C3", .test(day: day))
    let file = phone.folder.appendingPathComponent("Store/state.sealed")
    let before = try Data(contentsOf: file)
    #expect(await upload(app) == .success)
    let shared = phone.clock.now
    try before.write(to: file)
    phone.clock.advance(by: 3_600.1234567)
    for _ in 1...2 {
      let restarted = try phone.launch()
      if starts { await restarted.start() } else { _ = await restarted.check() }
      let test = try #require(await restarted.currentState.reportedTest)
      #expect(test.shared.map { $0.timeIntervalSince(shared).rounded() } == [0])
      #expect(test.statedDay == day)
    }
    // It ends like every other.
    let again = try phone.launch()
    try await phone.pass(14.2 * TestApp.day, in: again)
    await again.start()
    #expect(await again.currentState.reportedTest == nil)
  }

  @Test("A sharing that a full disk did not record is recorded before the next upload")
  func unrecorded() async throws {
    let (phone, app) = try await phone(Self.accepted)
    // A directory in place of the file: it cannot be replaced, as on a full disk.
    let file = phone.folder.appendingPathComponent("Store/state.sealed")
    let aside = phone.temporary.path("state")
    try FileManager.default.moveItem(at: file, to: aside)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(await upload(app) == .success)
    #expect(await app.currentState.reportedTest == nil)
    let first = phone.clock.now
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: aside, to: file)
    phone.clock.advance(by: TestApp.day)
    #expect(await upload(app, "D4E5F6") == .success)
    for app in [app, try phone.launch()] {
      let shared = await app.currentState.reportedTest?.shared ?? []
      #expect(shared.map { $0.timeIntervalSince(first).rounded() } == [0, TestApp.day])
    }
  }

  @Test("A refused PIN reports nothing, and its day is not that of the next upload")
  func refused() async throws {
    let (phone, app) = try await phone(Self.accepted)
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    _ = await upload(app, "A1B2C3", .test(day: Self.today.adding(days: -9)))
    #expect(await app.currentState.reportedTest == nil)
    phone.network.script(TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.t.s"}}"#))
    #expect(await upload(app, "D4E5F6") == .success)
    #expect(await app.currentState.reportedTest?.statedDay == nil)
  }

  /// The different stated days on the disk: those of the unfinished upload, and that of the reported test.
  private func storedDays(_ phone: TestApp) async throws -> [CalendarDay] {
    let state = try await phone.launch().store.state
    let days = [state.statedDay, state.diagnosis?.day, state.reportedTest?.statedDay]
    return Array(Set(days.compactMap(\.self)))
  }

  @Test("The stated day is on the disk only as long as its upload")
  func statedDay() async throws {
    let day = Self.today.adding(days: -9)
    let (phone, app) = try await phone(.fails(.interrupted))
    phone.script.update { $0.keysError = .notAuthorized }
    #expect(await upload(app, "A1B2C3", .test(day: day)).reason == .notAgreed)
    #expect(try await storedDays(phone) == [])
    phone.script.update { $0.keysError = nil }
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    #expect(await upload(app, "A1B2C3", .test(day: day)).reason == .pinRefused)
    #expect(try await storedDays(phone) == [])
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    for pin in ["A1B2C3", "D4E5F6"] {
      phone.network.script(TestApp.uploadPath, .fails(.interrupted))
      #expect(await upload(app, pin, .test(day: day)).reason == .noInternet)
      #expect(try await storedDays(phone) == [day])
      #expect(try await app.forgetUpload() == nil)
      #expect(try await storedDays(phone) == [])
    }
  }

  @Test("The day of an upload that has expired is removed, and is not that of the next upload")
  func expiredDay() async throws {
    let day = Self.today.adding(days: -3)
    for isRemoved in [true, false] {
      let (phone, app) = try await phone(.fails(.interrupted))
      _ = await upload(app, "A1B2C3", .test(day: day))
      phone.clock.advance(by: 3 * TestApp.day)
      let later = try phone.launch()
      if isRemoved {
        _ = await later.check()
        _ = await later.check()
        #expect(try await storedDays(phone) == [])
      }
      #expect(await upload(later, "D4E5F6") == .success)
      #expect(await later.currentState.reportedTest?.statedDay == nil)
    }
  }

  @Test("The stated day of a complete upload is removed on the fifteenth day")
  func fifteenthDay() async throws {
    let (phone, app) = try await phone(Self.accepted)
    let day = Self.today.adding(days: -3)
    _ = await upload(app, "A1B2C3", .test(day: day))
    #expect(try await storedDays(phone) == [day])
    try await phone.pass(13.9 * TestApp.day, in: app)
    #expect(try await storedDays(phone) == [day])
    try await phone.pass(0.2 * TestApp.day, in: app)
    #expect(try await storedDays(phone) == [])
  }

  @Test("It is removed after fourteen days, and with all data")
  func removed() async throws {
    for removesAll in [false, true] {
      let (phone, app) = try await phone(Self.accepted)
      _ = await upload(app)
      if removesAll {
        try await app.removeEverything()
      } else {
        try await phone.pass(13.9 * TestApp.day, in: app)
        #expect(await app.currentState.reportedTest != nil)
        try await phone.pass(0.2 * TestApp.day, in: app)
      }
      #expect(await app.currentState.reportedTest == nil)
    }
  }

  @Test("Advice ends ten days after the last encounter with the current risk")
  func advice() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    #expect(await app.adviceEnd == nil)
    let now = phone.clock.now
    phone.script.update {
      $0.found = [(5.0, 3_500.0), (3, 3_500), (1, 1_000)].map {
        (date: now.addingTimeInterval(-$0.0 * TestApp.day), seconds: 1_800, score: $0.1)
      }
    }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    #expect(await app.adviceEnd == Self.today.adding(days: 7))
    phone.clock.advance(by: 2 * TestApp.day)
    _ = await app.check()
    // It counts from the encounter, not from today.
    #expect(await app.adviceEnd == Self.today.adding(days: 7))
  }
}
