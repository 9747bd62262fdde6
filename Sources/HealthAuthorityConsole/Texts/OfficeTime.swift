// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// Times and days as an office reads them: in its time zone, with the name of the zone in the language of the page.
struct OfficeTime: Hashable, Sendable {
  let zone: TimeZone
  let language: ConsoleLanguage

  /// The zone if the settings name none: that of the default region, Poland.
  static let standardZone = "Europe/Warsaw"

  /// A time with the abbreviation of its zone, such as `2027-01-15 09:15 CET`. The abbreviation tells the two hours
  /// apart that have the same name when summer time ends.
  func text(_ date: Date) -> String { "\(clockTime(date)) \(abbreviation(at: date))" }

  /// A time without its zone, such as `2027-01-15 09:15`, which spreadsheets read as a time.
  func clockTime(_ date: Date) -> String {
    String(shifted(date).formatted(.iso8601).prefix(16)).replacing("T", with: " ")
  }

  /// The zone at `date` for a column of its own, such as `Europe/Warsaw CET +01:00`.
  func column(at date: Date) -> String {
    let minutes = minutesAheadOfUTC(at: date)
    let hours = String(format: "%02d:%02d", abs(minutes) / 60, abs(minutes) % 60)
    return "\(zone.identifier) \(abbreviation(at: date)) \(minutes < 0 ? "-" : "+")\(hours)"
  }

  /// The day of the office at `date`, such as `2027-01-15`.
  ///
  /// - Parameter offset: The number of days to add.
  func day(_ date: Date, offset: Int = 0) -> String {
    Self.utcDay(Date(unixDay: shifted(date).unixDay + offset))
  }

  /// The first moment of a day such as `2027-01-15`, which is one o'clock if the clocks skip the first hour; nil if the
  /// text is no day.
  func start(ofDay day: String) -> Date? {
    // The office's midnight is less than a day away from that of UTC, where its offset may be another one.
    guard let midnight = try? Date("\(day)T00:00:00Z", strategy: .iso8601),
      Self.utcDay(midnight) == day
    else { return nil }
    let guess = midnight.addingTimeInterval(-TimeInterval(zone.secondsFromGMT(for: midnight)))
    let start = midnight.addingTimeInterval(-TimeInterval(zone.secondsFromGMT(for: guess)))
    return shifted(start) < midnight ? guess : start
  }

  /// The day in UTC at `date`, for counts of servers.
  static func utcDay(_ date: Date) -> String { String(date.formatted(.iso8601).prefix(10)) }

  /// The offset of the zone, which the verification server takes for the office's day.
  func minutesAheadOfUTC(at date: Date) -> Int { zone.secondsFromGMT(for: date) / 60 }

  /// The name of the zone, such as `Central European Time (Europe/Warsaw)`.
  var zoneName: String {
    guard let name = zone.localizedName(for: .generic, locale: locale), name != zone.identifier
    else { return zone.identifier }
    return "\(name) (\(zone.identifier))"
  }

  private func abbreviation(at date: Date) -> String {
    let style: TimeZone.NameStyle =
      zone.isDaylightSavingTime(for: date) ? .shortDaylightSaving : .shortStandard
    return zone.localizedName(for: style, locale: locale) ?? zone.identifier
  }

  private func shifted(_ date: Date) -> Date {
    date.addingTimeInterval(TimeInterval(zone.secondsFromGMT(for: date)))
  }

  /// European English, which knows the abbreviations of European zones.
  private var locale: Locale {
    Locale(identifier: language == .english ? "en_GB" : "\(language.rawValue)_PL")
  }
}
