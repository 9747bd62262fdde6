// SPDX-License-Identifier: Apache-2.0

/// The close contacts with infectious people, by which alerts are true or false.
public struct ExposureLog: Sendable {
  /// The days for which a contact counts.
  static let days = 14

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

  /// The time from which an alert of the person would be true: the first upload of an infectious person who was a
  /// close contact in the fourteen days before; nil if there is none.
  public func alertDue(_ person: Int, at second: Int) -> Int? {
    let today = second / Epidemic.daySeconds
    let due = (minutes[person] ?? [:]).compactMap { source, days -> Int? in
      guard let upload = uploads[source], upload <= second else { return nil }
      let isClose = days.contains { day, minutes in
        minutes >= definition.minutes && day <= upload / Epidemic.daySeconds
          && (today - Self.days...today).contains(day)
      }
      return isClose ? upload : nil
    }
    return due.min()
  }
}
