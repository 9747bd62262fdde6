import Foundation

extension Day {
  /// The first moment of the day: what all dates of the framework's answers are cut to.
  var midnight: Date { Date(timeIntervalSince1970: Double(number) * Self.seconds) }

  /// How many days lie from this one to `later`, 0 where that is earlier.
  func count(to later: Day) -> Int { Int(later.number - min(number, later.number)) }
}
