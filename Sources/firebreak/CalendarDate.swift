import Foundation

/// A day of UTC as the command line writes it, `YYYY-MM-DD`.
struct CalendarDate {
  /// Its first moment.
  let midnight: Date

  /// Nil where `text` is no day of the calendar, 1970 to 9999.
  init?(_ text: String) {
    guard text.utf8.count == 10, let date = try? Date(text, strategy: Self.style),
      date.timeIntervalSince1970 >= 0
    else { return nil }
    // A lenient reader takes the 31st of February for the 3rd of March.
    guard date.formatted(Self.style) == text else { return nil }
    midnight = date
  }

  /// The day that begins at `midnight`.
  init(midnight: Date) {
    self.midnight = midnight
  }

  var text: String { midnight.formatted(Self.style) }

  private static let style = Date.ISO8601FormatStyle().year().month().day()
}
