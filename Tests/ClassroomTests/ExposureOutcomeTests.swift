// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import Testing

@testable import Classroom

@Suite("Outcomes of exposures") struct ExposureOutcomeTests {
  private static let midnight = Date(timeIntervalSince1970: 1_772_409_600)

  private static func time(day: Int, hour: Double) -> Date {
    midnight + (Double(day - 1) * 24 + hour) * 3_600
  }

  /// A is infectious. B has met A for an hour on day 2 at noon, and C on day 3 at noon. B's phone was off if `isOff`.
  private func outbreak(isOff: Bool = false) -> Outbreak {
    var outbreak = Outbreak(sources: SeededSources(seed: 1))
    outbreak.infect("a", at: Self.midnight)
    for (name, day) in [("b", 2), ("c", 3)] {
      outbreak.pass(
        minutes: 60, from: Self.time(day: day, hour: 12),
        distances: ["a": [name: 1], name: ["a": 1]]
      ) { $0 != "b" || !isOff }
    }
    return outbreak
  }

  /// The facts when A was tested and has shared the keys on day 3 at 18:00.
  private let shared = DiagnosisFacts(
    diagnosed: time(day: 3, hour: 17), shared: time(day: 3, hour: 18))

  private func outcome(
    of person: String = "b", isOff: Bool = false, _ diagnosis: DiagnosisFacts? = nil,
    published: Date? = nil, checked: Date? = nil, isNotified: Bool = false
  ) -> ExposureOutcome {
    outbreak(isOff: isOff).outcome(
      of: person,
      phone: NoticeFacts(
        isNotified: isNotified, publishedUntil: published, checkedUntil: checked),
      diagnoses: diagnosis.map { ["a": $0] } ?? [:])
  }

  @Test("The reason is the first condition of a notice that is not met")
  func order() {
    let early = Self.time(day: 3, hour: 18)
    let late = Self.time(day: 3, hour: 19)
    #expect(outcome(isOff: true, shared, published: late, checked: late) == .missed(.phoneOff))
    #expect(outcome() == .missed(.notDiagnosed))
    #expect(
      outcome(DiagnosisFacts(diagnosed: shared.diagnosed)) == .missed(.pinNotEntered))
    #expect(outcome(shared) == .missed(.notPublished))
    // A file that ended with the upload cannot have its keys.
    #expect(outcome(shared, published: early, checked: early) == .missed(.notPublished))
    #expect(outcome(shared, published: late) == .missed(.notChecked))
    #expect(outcome(shared, published: late, checked: early) == .missed(.notChecked))
    #expect(outcome(shared, published: late, checked: late) == .missed(.belowThreshold))
  }

  @Test("A meeting on the day of the upload is not covered by the shared keys")
  func keyInUse() {
    let late = Self.time(day: 3, hour: 19)
    #expect(
      outcome(of: "c", shared, published: late, checked: late) == .missed(.keyInUse))
  }

  @Test("A key is released two hours after its day at the earliest")
  func embargo() {
    let upload = DiagnosisFacts(
      diagnosed: Self.time(day: 3, hour: 0), shared: Self.time(day: 3, hour: 0.5))
    let two = Self.time(day: 3, hour: 2)
    let three = Self.time(day: 3, hour: 3)
    #expect(outcome(upload, published: two, checked: two) == .missed(.notPublished))
    #expect(outcome(upload, published: three, checked: three) == .missed(.belowThreshold))
  }

  @Test("A PIN that is entered again does not change the time of the upload")
  func again() {
    var diagnosis = DiagnosisFacts(diagnosed: Self.midnight)
    for hour in [1.0, 30] { diagnosis.noteUpload(at: Self.time(day: 1, hour: hour)) }
    #expect(diagnosis.shared == Self.time(day: 1, hour: 1))
  }

  @Test("A notice counts as correct for an exposed person only")
  func notices() {
    #expect(outcome(shared, isNotified: true) == .notified)
    #expect(outcome(of: "d", shared, isNotified: true) == .notifiedWithoutExposure(.overestimated))
    #expect(outcome(of: "d", shared) == .notExposed)
  }

  @Test("A notice of a meeting before the diagnosed person was infectious has this reason")
  func early() {
    var outbreak = outbreak()
    outbreak.pass(
      minutes: 60, from: Self.time(day: 1, hour: 2), distances: ["a": ["f": 1], "f": ["a": 1]]
    ) { _ in true }
    let facts = NoticeFacts(isNotified: true)
    let notified = outbreak.outcome(of: "f", phone: facts, diagnoses: ["a": shared])
    #expect(notified == .notifiedWithoutExposure(.beforeInfectious) && !notified.isExposed)
    // Without shared keys of that person, the notice has another reason.
    #expect(
      outbreak.outcome(of: "f", phone: facts, diagnoses: [:])
        == .notifiedWithoutExposure(.overestimated))
  }

  @Test("Of several infectious people, the one who came closest to a notice gives the reason")
  func several() {
    var outbreak = outbreak()
    outbreak.infect("e", at: Self.midnight)
    outbreak.pass(
      minutes: 60, from: Self.time(day: 2, hour: 13), distances: ["e": ["b": 1], "b": ["e": 1]]
    ) { _ in true }
    let facts = NoticeFacts()
    #expect(
      outbreak.outcome(
        of: "b", phone: facts, diagnoses: ["e": DiagnosisFacts(diagnosed: Self.midnight)])
        == .missed(.pinNotEntered))
    #expect(
      outbreak.outcome(of: "b", phone: facts, diagnoses: ["a": shared]) == .missed(.notPublished))
  }
}
