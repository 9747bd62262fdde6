// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A positive test that the user has reported by sharing their keys. The property names are the JSON keys on disk.
public struct ReportedTest: Codable, Hashable, Sendable {
  /// The moments at which keys were shared, oldest first.
  public private(set) var shared: [Date] = []
  /// The day of the test or of the first symptoms that the user stated; `nil` if they stated none.
  public private(set) var statedDay: CalendarDay?

  /// Records that keys were shared. The first stated day stays.
  mutating func share(at time: Date, statedDay: CalendarDay?) {
    shared.append(time)
    self.statedDay = self.statedDay ?? statedDay
  }

  /// The day from which the isolation counts: the stated one, or that of the first sharing in the user's time zone.
  public func day(in zone: TimeZone) -> CalendarDay {
    statedDay ?? CalendarDay(of: shared.first ?? .distantPast, in: zone)
  }

  /// Returns `true` on the day of the last sharing and for `AdviceRule.thanksDays` after it. The stated day may be long
  /// ago by then.
  public func isRecent(at now: Date, in zone: TimeZone) -> Bool {
    guard let last = shared.last else { return false }
    let end = CalendarDay(of: last, in: zone).adding(days: AdviceRule.thanksDays)
    return CalendarDay(of: now, in: zone) <= end
  }
}

/// The periods of the advice that the app gives. Each counts from the day of the test or of the encounter.
public enum AdviceRule {
  /// After a positive test or the first symptoms: stay at home for ten days.
  public static let isolationDays = 10
  /// After keys were shared: the user is thanked for three more days, also when the isolation is over.
  public static let thanksDays = 3
  /// After an encounter: watch for symptoms, and follow the advice for its risk, for ten days.
  public static let observationDays = 10
}

extension ExposureApp {
  /// The last day of the advice for the current risk, which counts from the last encounter with this risk; `nil`
  /// without a risk.
  public var adviceEnd: CalendarDay? {
    let level = context.riskLevel
    guard level > .none else { return nil }
    let last = context.exposures.first { context.riskLevel(of: $0) == level }?.day
    return last.map { CalendarDay(sameDateAs: $0).adding(days: AdviceRule.observationDays) }
  }
}

extension StoredState {
  /// Records the end of an upload that the key server has accepted.
  mutating func noteSharing(at now: Date) {
    noteSharing(at: now, statedDay: statedDay)
    statedDay = nil
  }

  /// Records that the keys of following days were shared. A newer upload, which is not finished, keeps its stated day.
  mutating func noteFollowUpSharing(at now: Date) {
    noteSharing(at: now, statedDay: followUp?.diagnosis.day)
  }

  private mutating func noteSharing(at now: Date, statedDay: CalendarDay?) {
    var test = reportedTest ?? ReportedTest()
    test.share(at: now, statedDay: statedDay)
    reportedTest = test
  }

  /// Offers to share the keys of the following days. If the user has agreed after an earlier upload, that stays.
  mutating func offerFollowUp(goesAbroad: Bool, at now: Date) {
    guard followUp?.status != .active else { return }
    followUp = FollowUp(
      after: diagnosis ?? .notStated, isInteroperabilityEnabled: goesAbroad, at: now)
  }
}
