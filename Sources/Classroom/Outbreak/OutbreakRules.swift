import Foundation

/// The rules by which the infection of a lesson spreads. They are simple enough to compute by hand, and describe no
/// real disease.
struct OutbreakRules: Hashable, Sendable {
  /// A range of distances with the chance of an infection.
  struct Reach: Hashable, Sendable {
    /// The largest distance of the range.
    let metres: Double
    /// The chance of an infection in a whole hour, in percent; less time has a smaller chance.
    let percentPerHour: Int
  }

  /// The distance of a conversation.
  var close = Reach(metres: 2, percentPerHour: 25)
  /// The distance of neighbours in a room.
  var near = Reach(metres: 4, percentPerHour: 8)
  /// The hours from the infection until a person infects others.
  var hoursUntilInfectious = 24.0
  /// The hours from the infection until a person feels ill.
  var hoursUntilIll = 48.0
  /// The hours from the infection after which a person is no longer infectious.
  var hoursUntilRecovered = 240.0
  /// The minutes near an infectious person from which on a person counts as exposed.
  var exposedMinutes = 15

  /// The course of a new infection.
  func health(hoursSinceInfection hours: Double) -> Health {
    if hours < hoursUntilInfectious { return .infected }
    if hours < hoursUntilIll { return .infectious }
    return hours < hoursUntilRecovered ? .ill : .recovered
  }

  /// The chance in percent that an infectious person infects another one.
  func percent(metres: Double, minutes: Int) -> Int {
    let perHour =
      metres <= close.metres
      ? close.percentPerHour : metres <= near.metres ? near.percentPerHour : 0
    return perHour * min(minutes, 60) / 60
  }
}

/// The true health of a person, which phones never learn.
enum Health: Int, CaseIterable, Comparable, Sendable {
  /// Never infected.
  case well
  /// Infected, and not infectious yet.
  case infected
  /// Infects others and feels well.
  case infectious
  /// Infects others and feels ill.
  case ill
  /// No longer infectious, and cannot be infected again.
  case recovered

  /// True if the person infects others.
  var infects: Bool { self == .infectious || self == .ill }

  static func < (one: Health, other: Health) -> Bool { one.rawValue < other.rawValue }
}
