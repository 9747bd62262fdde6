// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The comparison of the truth with one phone: a notice that was due was shown, or is missing for a reason.
enum ExposureOutcome: Hashable, Sendable {
  /// Not near an infectious person, and no notice.
  case notExposed
  /// Near an infectious person, and the phone shows a notice.
  case notified
  /// A notice without enough time near an infectious person.
  case notifiedWithoutExposure(FalseNoticeReason)
  /// Near an infectious person, and no notice.
  case missed(MissedReason)

  /// True if the person was near an infectious one.
  var isExposed: Bool {
    switch self {
    case .notExposed, .notifiedWithoutExposure: false
    case .notified, .missed: true
    }
  }

  /// True for a notice without an exposure.
  var isFalseNotice: Bool {
    if case .notifiedWithoutExposure = self { true } else { false }
  }
}

/// The reason of a notice without an exposure.
enum FalseNoticeReason: Hashable, Sendable {
  /// The diagnosed person was met before they were infectious: a shared key is that of a whole day.
  case beforeInfectious
  /// The meeting was too short or too far, and the phones measured it as longer or closer.
  case overestimated
}

/// The first condition of a notice that is not met, in the order in which a notice comes about.
enum MissedReason: Int, CaseIterable, Comparable, Sendable {
  /// One of both phones was off.
  case phoneOff
  /// The infectious person has no positive test yet.
  case notDiagnosed
  /// The diagnosed person has not entered the PIN.
  case pinNotEntered
  /// The meeting was on the day of the upload: the key of that day was still in use and is not shared.
  case keyInUse
  /// The key server has not published the keys yet.
  case notPublished
  /// The phone has not downloaded them yet.
  case notChecked
  /// The phone has compared the keys: by the risk configuration, the meeting was too short or too far.
  case belowThreshold

  static func < (one: MissedReason, other: MissedReason) -> Bool { one.rawValue < other.rawValue }
}

/// The facts about an infectious person's phone that decide if others are notified.
struct DiagnosisFacts: Hashable, Sendable {
  /// The time of the positive test.
  var diagnosed: Date?
  /// The time of the upload.
  var shared: Date?

  /// Notes an upload. The same PIN again succeeds without a request, so only the first one counts.
  mutating func noteUpload(at date: Date) { shared = shared ?? date }
}

/// The facts about a phone that may show a notice.
struct NoticeFacts: Hashable, Sendable {
  var isNotified = false
  /// The end of the newest key file that the key server has published.
  var publishedUntil: Date?
  /// The end of the newest key file that the phone has compared.
  var checkedUntil: Date?
}

extension Outbreak {
  /// The outcome for `person`. Of several infectious people, the one who came closest to a notice counts.
  func outcome(
    of person: String, phone: NoticeFacts, diagnoses: [String: DiagnosisFacts]
  ) -> ExposureOutcome {
    let reasons = exposures(of: person).map { source, contact in
      reason(for: contact, diagnosis: diagnoses[source] ?? DiagnosisFacts(), phone: phone)
    }
    guard let last = reasons.max() else {
      guard phone.isNotified else { return .notExposed }
      let sharers = diagnoses.filter { $0.value.shared != nil && $0.key != person }.keys
      let hasMet = sharers.contains { minutes(of: person, near: $0) >= rules.exposedMinutes }
      return .notifiedWithoutExposure(hasMet ? .beforeInfectious : .overestimated)
    }
    return phone.isNotified ? .notified : .missed(last)
  }

  /// The reason why a contact has not led to a notice.
  private func reason(
    for contact: Contact, diagnosis: DiagnosisFacts, phone: NoticeFacts
  ) -> MissedReason {
    guard contact.total.received >= rules.exposedMinutes else { return .phoneOff }
    guard diagnosis.diagnosed != nil else { return .notDiagnosed }
    guard let shared = diagnosis.shared else { return .pinNotEntered }
    guard contact.total(beforeDayOf: shared).received >= rules.exposedMinutes,
      let dayEnd = contact.lastDayEnd(beforeDayOf: shared)
    else { return .keyInUse }
    // The key server holds a key back for two hours after its end: until then, others could send its identifiers.
    let released = max(shared, dayEnd.addingTimeInterval(Self.embargoSeconds))
    guard let published = phone.publishedUntil, published > released else { return .notPublished }
    guard let checked = phone.checkedUntil, checked > released else { return .notChecked }
    return .belowThreshold
  }

  private static let embargoSeconds: TimeInterval = 2 * 3_600
}
