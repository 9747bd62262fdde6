import Foundation

/// The time that a person has spent within reach of one infectious person.
struct Contact: Hashable, Sendable {
  /// The minutes of one day, 00:00 to 24:00 UTC, as the keys of phones.
  struct Minutes: Hashable, Sendable {
    /// Minutes at the distance of a conversation.
    var close = 0
    /// Minutes at the distance of neighbours in a room, or closer.
    var near = 0
    /// Those of `near` in which both phones were on.
    var received = 0
  }

  /// The minutes of each day, by the number of days since 1970.
  private(set) var days: [Int: Minutes] = [:]

  /// Adds time at `metres`; time out of reach is not recorded.
  mutating func add(
    minutes: Int, metres: Double, at date: Date, bothOn: Bool, rules: OutbreakRules
  ) {
    guard metres <= rules.near.metres else { return }
    var day = days[Self.day(of: date), default: Minutes()]
    day.near += minutes
    if metres <= rules.close.metres { day.close += minutes }
    if bothOn { day.received += minutes }
    days[Self.day(of: date)] = day
  }

  /// The minutes of all days.
  var total: Minutes { sum { _ in true } }

  /// The minutes of the days before that of `date`.
  func total(beforeDayOf date: Date) -> Minutes {
    let day = Self.day(of: date)
    return sum { $0 < day }
  }

  /// The end of the last day before that of `date`; `nil` if there was no contact before.
  func lastDayEnd(beforeDayOf date: Date) -> Date? {
    let day = Self.day(of: date)
    return days.keys.filter { $0 < day }.max().map {
      Date(timeIntervalSince1970: Double($0 + 1) * Self.secondsPerDay)
    }
  }

  private func sum(where isWanted: (Int) -> Bool) -> Minutes {
    days.reduce(into: Minutes()) { sum, day in
      guard isWanted(day.key) else { return }
      sum.close += day.value.close
      sum.near += day.value.near
      sum.received += day.value.received
    }
  }

  private static let secondsPerDay: TimeInterval = 86_400

  private static func day(of date: Date) -> Int {
    Int((date.timeIntervalSince1970 / secondsPerDay).rounded(.down))
  }
}
