// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Transmission risks by a stated date") struct TransmissionRiskTests {
  private static let token = #"{"result":{"accessToken":"eyJ.t.s"}}"#
  private static let table = TransmissionRiskConfiguration(
    withoutDate: 6, daysSinceTest: ["-2": 4, "-1": 5, "0": 8],
    daysSinceOnsetOfSymptoms: ["-1": 2, "0": 7, "1": 3])

  /// A phone with keys of the last five days, and the tables if there are any.
  private func phone(
    _ table: TransmissionRiskConfiguration? = table
  ) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    try phone.serve(
      RemoteConfiguration(version: 1, transmissionRiskConfiguration: table))
    let app = try await phone.launchedAfterFirstCheck()
    for day in 1...5 { phone.addKey(daysAgo: day) }
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    return (phone, app)
  }

  private static func day(_ ago: Int) -> CalendarDay {
    CalendarDay(sameDateAs: UTCDay(of: TestApp.noon)).adding(days: -ago)
  }

  /// The risks of the uploaded keys by the number of days ago.
  private func risks(_ phone: TestApp) throws -> [[Int: Int?]] {
    let today = Int(TestApp.noon.timeIntervalSince1970 / 86_400)
    return try phone.network.requests(for: TestApp.uploadPath).map { request in
      let keys = try JSONDecoder().decode(UploadRequest.self, from: request.body ?? Data())
        .data.temporaryExposureKeys
      return Dictionary(
        uniqueKeysWithValues: keys.map {
          (today - Int($0.rollingStartNumber) / 144, $0.transmissionRisk)
        })
    }
  }

  @Test("Without tables all keys have ProteGO Safe's risk, whatever date is stated")
  func constant() async throws {
    let (phone, app) = try await phone(nil)
    let outcome = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: false, diagnosis: .test(day: Self.day(2)))
    #expect(outcome == .success)
    #expect(try risks(phone) == [[1: 8, 2: 8, 3: 8, 4: 8, 5: 8]])
  }

  @Test(
    "The tables give each key its risk, and keys without one are not shared",
    arguments: [
      (Diagnosis.notStated, [1: 6, 2: 6, 3: 6, 4: 6, 5: 6]),
      (.test(day: day(2)), [2: 8, 3: 5, 4: 4]), (.symptoms(day: day(2)), [1: 3, 2: 7, 3: 2]),
      (.symptoms(day: day(5)), [4: 3, 5: 7]),
    ])
  func tables(_ diagnosis: Diagnosis, _ expected: [Int: Int]) async throws {
    let (phone, app) = try await phone()
    let today = UInt32(TestApp.noon.timeIntervalSince1970 / 86_400)
    let preview = await app.uploadPreview(
      of: (1...5).map { (start: (today - $0) * 144, period: 144) }, diagnosis: diagnosis)
    #expect(
      Dictionary(
        uniqueKeysWithValues: preview.map {
          (Int(today) - $0.day.number, $0.transmissionRisk)
        }) == expected)
    #expect(preview.map(\.day) == preview.map(\.day).sorted())
    let outcome = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: false, diagnosis: diagnosis)
    #expect(outcome == .success)
    #expect(try risks(phone) == [expected.mapValues { $0 }])
  }

  @Test("If the tables share no key, the PIN is not used")
  func nothing() async throws {
    let (phone, app) = try await phone()
    let outcome = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: false, diagnosis: .test(day: Self.day(14)))
    #expect(outcome.reason == .nothingToShare)
    #expect(phone.network.requests(for: TestApp.tokenPath).isEmpty)
  }

  @Test("An unfinished upload keeps its risks over a restart and another date")
  func continued() async throws {
    let (phone, app) = try await phone()
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), .text(#"{"result":""}"#))
    let first = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: false, diagnosis: .test(day: Self.day(2)))
    #expect(first.reason == .noInternet)
    let again = try phone.launch()
    let preview = await again.uploadPreview(of: [], diagnosis: .notStated)
    #expect(preview.map(\.transmissionRisk).sorted() == [4, 5, 8])
    // Without a valid token only its own PIN continues it.
    phone.clock.advance(by: 30 * 60)
    for (pin, isContinued) in [("a1b 2c3", true), ("D4E5F6", false), ("", false)] {
      let preview = await again.uploadPreview(
        of: [], diagnosis: .notStated, pin: ZeroingBytes(copying: pin.utf8))
      #expect((preview.map(\.transmissionRisk).sorted() == [4, 5, 8]) == isContinued)
    }
    phone.clock.advance(by: -30 * 60)
    #expect(await again.continueUpload() == .success)
    let sent = try risks(phone)
    #expect(sent.count == 2 && sent.first == sent.last)
    #expect(await again.continueUpload() == nil)
  }

  @Test("A forgotten upload cannot be continued, and another date applies to the next")
  func forgotten() async throws {
    let (phone, app) = try await phone()
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), .text(#"{"result":""}"#))
    _ = await app.upload(
      pin: "A1B2C3", isInteroperabilityEnabled: false, diagnosis: .test(day: Self.day(2)))
    #expect(try await app.forgetUpload() == nil)
    #expect(await !app.hasPendingUpload)
    #expect(await app.continueUpload() == nil)
    _ = await app.upload(
      pin: "D4E5F6", isInteroperabilityEnabled: false, diagnosis: .symptoms(day: Self.day(2)))
    #expect(try risks(phone).last == [1: 3, 2: 7, 3: 2])
  }

  @Test(
    "The phone accepts every day that a page offers, in any time zone and at any hour",
    arguments: ["Pacific/Kiritimati", "Europe/Warsaw", "GMT", "America/Los_Angeles", "Etc/GMT+12"])
  func offered(_ name: String) throws {
    let zone = try #require(TimeZone(identifier: name))
    for hour in 0..<48 {
      let now = TestApp.noon.addingTimeInterval(Double(hour) * 3_600)
      let today = CalendarDay(of: now, in: zone)
      for ago in 0...14 {
        #expect(Diagnosis.test(day: today.adding(days: -ago)).isUsable(at: now), "\(hour) \(ago)")
      }
      #expect(!Diagnosis.test(day: today.adding(days: -17)).isUsable(at: now))
      #expect(!Diagnosis.test(day: today.adding(days: 3)).isUsable(at: now))
    }
  }

  @Test(
    "A day is one of the last fourteen in the form of ISO 8601",
    arguments: [
      ("2020-10-15", true), ("2020-10-01", true), ("2020-10-16", true), ("2020-09-30", false),
      ("2020-10-17", false),
    ])
  func usable(_ text: String, _ isUsable: Bool) throws {
    let day = try #require(CalendarDay(text))
    #expect(Diagnosis.test(day: day).isUsable(at: TestApp.noon) == isUsable)
    #expect(Diagnosis.notStated.isUsable(at: TestApp.noon))
    for wrong in ["2020-1-01", "2020-02-30", "20201001", "", "2020-10-1x", "tomorrow!!"] {
      #expect(CalendarDay(wrong) == nil, "\(wrong)")
    }
  }
}
