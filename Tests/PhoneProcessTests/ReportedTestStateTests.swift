// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import TestSupport
import Testing

@testable import ExposureApp
@testable import PhoneProcess

@Suite("The state of a person who has shared their keys")
struct ReportedTestStateTests {
  private static let day: TimeInterval = 86_400

  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
    scene.server.publish(#"{"result":{"accessToken":"eyJ.t.s"}}"#, at: "getAccessToken")
    scene.server.publish(#"{"result":""}"#, at: "uploadDiagnosisKeys")
  }

  /// The phone, started again.
  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  private func share(_ phone: Phone, pin: String, daysAgo: Int) async throws {
    let day = CalendarDay(of: scene.clock.now, in: .gmt).adding(days: -daysAgo)
    let request = PhoneRequest(
      .upload(sharesAbroad: false, diagnosis: .test(day: day)),
      pin: ZeroingBytes(copying: pin.utf8))
    #expect(await phone.perform(request).status == .done)
  }

  @Test(
    "A test of eleven to fourteen days ago is thanked for some days, also when keys are shared twice",
    arguments: [11, 14])
  func longAgo(daysAgo: Int) async throws {
    #expect(try await started().facts(.enable).status == .done)
    scene.clock.advance(by: Self.day)
    for pin in ["AB2CD3", "EF4GH6"] {
      try scene.publishConfiguration(version: pin == "AB2CD3" ? 2 : 3)
      try await share(try await started(), pin: pin, daysAgo: daysAgo)
      for day in 0...4 {
        let reply = await (try await started()).perform(PhoneRequest(.status))
        let test = try await started().facts(.status).json["positiveTest"] as? [String: Any]
        let isRecent = day <= 3
        #expect(test?["isOver"] as? Bool == true && test?["isRecent"] as? Bool == isRecent)
        #expect(
          reply.text.contains("thank you for sharing your keys. The time at home") == isRecent)
        #expect(!reply.text.contains("Stay at home until"))
        scene.clock.advance(by: Self.day)
      }
    }
  }
}
