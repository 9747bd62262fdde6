import Foundation

/// A day of UTC, as the log of contacts numbers them: days since 1970.
struct Day: Hashable, Comparable, Sendable {
  static let seconds: TimeInterval = 86_400

  let number: UInt32

  /// The day that holds `date`; the first or last one where `date` lies outside.
  init(of date: Date) {
    let days = (date.timeIntervalSince1970 / Self.seconds).rounded(.down)
    number = UInt32(max(0, min(days, Double(UInt32.max))))
  }

  /// The oldest day that is still kept on this one.
  var first: UInt32 { number - min(number, DeviceLimit.retentionDays) }

  /// Whether this day is kept on `today`. Tomorrow is: two clocks may differ around midnight.
  func isKept(on today: Day) -> Bool {
    number >= today.first && number <= today.number.addingReportingOverflow(1).partialValue
  }

  static func < (left: Day, right: Day) -> Bool { left.number < right.number }
}
