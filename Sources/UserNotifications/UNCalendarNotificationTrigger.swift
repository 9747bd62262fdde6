// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Every time that matches date components, or the first of them.
open class UNCalendarNotificationTrigger: UNNotificationTrigger {
  /// The components that must match. Others match any value; smaller ones than the smallest given are 0.
  open private(set) var dateComponents: DateComponents

  /// A trigger at the next time that matches `dateComponents`, and at each later one if it `repeats`.
  public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
    self.dateComponents = dateComponents
    super.init(repeats: repeats)
  }

  /// Returns the first match after the current time; nil if there is none, as for a full date in the past.
  open func nextTriggerDate() -> Date? {
    Self.nextDate(matching: dateComponents, after: UNUserNotificationCenter.current().now)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    super.isEqual(object)
      && (object as? UNCalendarNotificationTrigger)?.dateComponents == dateComponents
  }

  open override var hash: Int { dateComponents.hashValue }
}

extension UNCalendarNotificationTrigger {
  /// The first match of `components` after `date`; nil if there is none.
  ///
  /// Without a time zone in the components the current one counts. A local time that does
  /// not exist becomes the end of the gap: 2:30 in the hour that summer time skips is 3:00. Of a time that occurs
  /// twice, the first counts.
  static func nextDate(matching components: DateComponents, after date: Date) -> Date? {
    // `nextDate` ignores the zone and the calendar of the components.
    var calendar = components.calendar ?? .current
    calendar.timeZone = components.timeZone ?? calendar.timeZone
    var values = components
    (values.calendar, values.timeZone) = (nil, nil)
    let next = calendar.nextDate(
      after: date, matching: values, matchingPolicy: .nextTime, repeatedTimePolicy: .first)
    guard let next, values.year != nil else { return next }
    // For a date in the past, `nextTime` returns the next time that the month has no such day.
    let found = calendar.dateComponents([.year, .month, .day], from: next)
    let isWanted =
      found.year == values.year
      && (values.month == nil || found.month == values.month)
      && (values.day == nil || found.day == values.day)
    return isWanted ? next : nil
  }
}
