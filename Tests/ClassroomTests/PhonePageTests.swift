// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Simulation
import Testing

@testable import Classroom

@Suite("The page of a pupil") struct PhonePageTests {
  private let now = Date(timeIntervalSince1970: 1_772_409_600)

  /// The page of a person who is ill, with a notice of high risk.
  private func page(_ change: (inout PhoneView) -> Void) -> String {
    var phone = PhoneView(number: 1)
    (phone.health, phone.noticeLevel) = (.ill, .high)
    change(&phone)
    return PhonePage.page(phone, in: LessonState(start: now, now: now)).text(in: .english)
  }

  @Test("A person with symptoms or a notice is told to ask for a test")
  func untested() {
    for test in [nil, TestMessage.negative] {
      let page = page { $0.test = test }
      #expect(page.contains("Ask the teacher for a test") && page.contains("Ask for a test"))
    }
  }

  @Test("A person with a positive result is not, also after a later test, for every level of risk")
  func positive() throws {
    let pin = IssuedPIN(text: "ABC123")
    for level in [RiskLevel.low, .medium, .high] {
      for test in [TestMessage.positive(pin, until: now), .negative, nil] {
        let page = page {
          ($0.noticeLevel, $0.test) = (level, test)
          $0.diagnosis = DiagnosisFacts(diagnosed: now)
        }
        #expect(!page.contains("for a test"), "\(level)")
        #expect(page.contains("Your own test is positive already"), "\(level)")
        #expect(page.contains("You feel ill. Stay at home."), "\(level)")
      }
    }
  }
}
