// SPDX-License-Identifier: Apache-2.0

/// The close contacts with infectious people, by which alerts are true or false.
public struct ExposureLog: Sendable {
  /// The days before an alert or an upload in which a contact counts.
  private static let days = 14
  /// The days after an upload within which an alert is in time.
  static let inTimeDays = 3
  /// The days for which contacts are kept: when an alert is missed, those before the upload still count.
  static let daysKept = days + inTimeDays + 1

  private let definition: Scenario.CloseContact
  /// The minutes by person, infectious person and day.
  private var minutes: [Int: [Int: [Int: Double]]] = [:]
  private var uploads: [Int: Int] = [:]

  init(_ definition: Scenario.CloseContact) {
    self.definition = definition
  }

  mutating func note(_ encounters: [Encounter], onDay day: Int, of epidemic: Epidemic) {
    for encounter in encounters where Double(encounter.metres) <= definition.metres {
      let pair = (Int(encounter.first), Int(encounter.second))
      for (source, person) in [pair, (pair.1, pair.0)]
      where epidemic.isInfectious(source, onDay: day) {
        minutes[person, default: [:]][source, default: [:]][day, default: 0] +=
          Double(encounter.end - encounter.start) / 60
      }
    }
  }

  mutating func note(uploadOf person: Int, at second: Int) {
    uploads[person] = min(uploads[person] ?? second, second)
  }

  mutating func forget(before day: Int) {
    for (person, sources) in minutes {
      let kept = sources.mapValues { $0.filter { $0.key >= day } }.filter { !$0.value.isEmpty }
      minutes[person] = kept.isEmpty ? nil : kept
    }
  }

  /// Returns `true` if an alert of the person would be true: an infectious person who has uploaded was a close contact
  /// in the fourteen days before the alert.
  public func isAlertTrue(_ person: Int, at second: Int) -> Bool {
    isClose(person) { upload, day in
      upload <= second && day >= second / Epidemic.daySeconds - Self.days
    }
  }

  /// Returns `true` if the person should have had an alert by now: an infectious person who uploaded three days ago or
  /// earlier was a close contact in the fourteen days before the upload.
  public func isAlertOverdue(_ person: Int, at second: Int) -> Bool {
    isClose(person) { upload, day in
      second - upload >= Self.inTimeDays * Epidemic.daySeconds
        && day >= upload / Epidemic.daySeconds - Self.days
    }
  }

  /// Returns `true` if the person was a close contact of an infectious person until the day of the upload.
  ///
  /// - Parameter counts: Called with the second of the upload and the day of the contact.
  private func isClose(_ person: Int, _ counts: (Int, Int) -> Bool) -> Bool {
    (minutes[person] ?? [:]).contains { source, days in
      guard let upload = uploads[source] else { return false }
      return days.contains { day, minutes in
        minutes >= definition.minutes && day <= upload / Epidemic.daySeconds && counts(upload, day)
      }
    }
  }
}
