// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Simulation
import World

/// A lesson at one moment, as pages show it.
struct LessonState: Sendable {
  /// The start of the simulated clock.
  let start: Date
  /// The simulated time.
  var now: Date
  /// True while simulated hours pass.
  var isRunning = false
  /// True if the clock runs until it is stopped.
  var isAutomatic = false
  var phones: [PhoneView] = []
  /// The number of phones of a full class.
  var phonesMax = ClassLimit.phonesMax
  /// The course of the outbreak, one sample for each hour.
  var curve: [Sample] = []
  /// The last event that concerns the teacher.
  var news: News?

  /// The numbers at the end of an hour.
  struct Sample: Hashable, Sendable {
    let time: Date
    /// Everyone who has ever been infected.
    var infected = 0
    var diagnosed = 0
    var notified = 0
  }

  /// An event for the teacher.
  enum News: Hashable, Sendable {
    case infectionStarted(Int)
    case testNegative(Int)
    case testPositive(Int)
    case uploaded(Int)
    case uploadFailed(Int)
    case freed(Int)
    case refused(LessonRefusal)
  }

  /// The whole days since the start, from 1.
  func day(of date: Date) -> Int {
    date.unixDay - start.unixDay + 1
  }

  /// The phones whose pages look different now. If only some do, the others need not load again: a class joins at the
  /// same time.
  func changedPhones(from earlier: LessonState) -> Set<Int> {
    guard now == earlier.now else { return Set(phones.map(\.number)) }
    let before = Dictionary(uniqueKeysWithValues: earlier.phones.map { ($0.number, $0.pupilView) })
    return Set(phones.filter { before[$0.number] != $0.pupilView }.map(\.number))
  }

  /// The phones of exposed people without a notice, by the reason for it.
  var missed: [(reason: MissedReason, phones: [Int])] {
    MissedReason.allCases.map { reason in
      (reason, phones.filter { $0.outcome == .missed(reason) }.map(\.number))
    }.filter { !$0.phones.isEmpty }
  }

  func count(_ outcome: ExposureOutcome) -> Int { phones.count { $0.outcome == outcome } }

  /// The number of people who have been near an infectious person long enough.
  var exposedCount: Int {
    phones.count { $0.outcome.isExposed }
  }

  var missedCount: Int { exposedCount - count(.notified) }
}

/// One phone and its person at one moment.
struct PhoneView: Equatable, Sendable {
  let number: Int
  var position: Position?
  var isOn = true
  var isFree = false
  /// True if a page of its browser is open.
  var isConnected = false
  var health = Health.well
  var outcome = ExposureOutcome.notExposed
  /// The level of the notice that the phone shows.
  var noticeLevel: RiskLevel?
  var test: TestMessage?
  var diagnosis = DiagnosisFacts()
  var upload: UploadOutcome?
  /// Scans in which the phone received another one.
  var receivingScanCount = 0
  var exposureCount = 0
  var lastCheck: Date?
  var checkFailed = false

  /// True if a test of the person was positive. A later test does not change that.
  var isDiagnosed: Bool {
    if case .positive? = test { true } else { diagnosis.diagnosed != nil }
  }

  /// The same without everything that only the teacher sees.
  var pupilView: PhoneView {
    var view = self
    (view.position, view.isFree, view.isConnected) = (nil, false, false)
    (view.outcome, view.diagnosis) = (.notExposed, DiagnosisFacts())
    return view
  }
}

/// The step of a lesson that the teacher's page proposes.
enum NextStep: Hashable, Sendable {
  /// The class joins.
  case join
  /// The first person is infected.
  case infect
  /// Time passes until a person feels ill.
  case wait
  /// The people with these phones feel ill and ask for a test.
  case test([Int])
  /// The people with these phones enter their PINs.
  case share([Int])
  /// The key server publishes, and phones check.
  case publish
  /// The class looks at the result.
  case discuss
}

extension LessonState {
  /// The step that comes next, by the phones that are in the class.
  var nextStep: NextStep {
    let present = phones.filter { !$0.isFree }
    guard present.count >= ClassLimit.phonesMin else { return .join }
    guard phones.contains(where: { $0.health != .well }) else { return .infect }
    let untested = present.filter { $0.health == .ill && $0.diagnosis.diagnosed == nil }
    guard untested.isEmpty else { return .test(untested.map(\.number)) }
    let unshared = present.filter { $0.diagnosis.diagnosed != nil && $0.diagnosis.shared == nil }
    guard unshared.isEmpty else { return .share(unshared.map(\.number)) }
    guard phones.contains(where: { $0.diagnosis.shared != nil }) else { return .wait }
    let isWaiting = phones.contains {
      [.missed(.notPublished), .missed(.notChecked)].contains($0.outcome)
    }
    return isWaiting ? .publish : .discuss
  }
}

// MARK: Views

extension Lesson {
  /// Adds a sample, or replaces that of the same moment.
  func noteCurve() {
    var sample = LessonState.Sample(time: now)
    for (seat, phone) in zip(seats, crowd.phones) {
      if outbreak.health(of: seat.name, at: now) != .well { sample.infected += 1 }
      if seat.diagnosis.diagnosed != nil { sample.diagnosed += 1 }
      if !phone.notices.exposureNotices.isEmpty { sample.notified += 1 }
    }
    if curve.last?.time == now { curve.removeLast() }
    curve.append(sample)
  }

  func phoneViews() async -> [PhoneView] {
    let positions = crowd.itinerary.positions(at: now)
    let diagnoses = Dictionary(uniqueKeysWithValues: seats.map { ($0.name, $0.diagnosis) })
    let connected = feed.connectedPhones
    var views: [PhoneView] = []
    for (seat, (phone, position)) in zip(seats, zip(crowd.phones, positions)) {
      let app = await phone.app.currentState
      let cursor = await phone.app.cursor
      var view = PhoneView(number: seat.number)
      let isAtHome = seat.diagnosis.diagnosed != nil || seat.isFree
      view.position = isAtHome ? nil : position
      (view.isOn, view.isFree) = (seat.isOn, seat.isFree)
      view.isConnected = connected.contains(seat.number)
      (view.test, view.upload, view.diagnosis) = (seat.test, seat.upload, seat.diagnosis)
      view.health = outbreak.health(of: seat.name, at: now)
      view.noticeLevel = phone.notices.exposureNotices.last?.riskLevel
      view.receivingScanCount = phone.radio.receivingScanCount
      (view.exposureCount, view.lastCheck) = (app.exposureCount, app.lastCheck)
      view.checkFailed = app.lastFailure != nil
      view.outcome = outbreak.outcome(
        of: seat.name,
        phone: NoticeFacts(
          isNotified: view.noticeLevel != nil, publishedUntil: publishedUntil,
          checkedUntil: cursor.map { Date(unixSecond: $0) }),
        diagnoses: diagnoses)
      views.append(view)
    }
    return views
  }
}
