import Foundation

/// A day written `YYYY-MM-DD`, in UTC, on which symptoms began.
struct SymptomDate: Sendable {
  /// The midnight with which it begins.
  let midnight: Date

  /// The day in `text`, where there is such a day and it is neither to come nor too long ago.
  init?(_ text: String, now: Date) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      let midnight = Self.midnight(year: year, month: month, day: day)
    else { return nil }
    let age = now.timeIntervalSince(midnight)
    let ageMax = TimeInterval(VerificationLimit.symptomAgeDaysMax + 1) * Self.secondsPerDay
    guard age >= 0, age < ageMax else { return nil }
    self.midnight = midnight
  }

  /// The interval number that `midnight` begins.
  var interval: UInt32? { UInt32(exactly: (midnight.timeIntervalSince1970 / 600).rounded(.down)) }

  private static let secondsPerDay: TimeInterval = 86_400

  private static func midnight(year: Int, month: Int, day: Int) -> Date? {
    guard let utc = TimeZone(secondsFromGMT: 0) else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = utc
    let parts = DateComponents(calendar: calendar, year: year, month: month, day: day)
    return parts.isValidDate ? calendar.date(from: parts) : nil
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
