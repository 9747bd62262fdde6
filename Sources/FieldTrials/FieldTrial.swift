import Foundation

/// One trial: who carried which phone, what it logged, and what it told its owner in the end.
package struct FieldTrial: Sendable {
  /// Its name, such as `train_1`.
  package let name: String
  /// When it began, on the phones' clocks.
  package let start: LogTime
  /// When it ended, on the phones' clocks.
  package let stop: LogTime
  /// The phones that were to take part and left a log.
  package let phones: [TrialPhone]

  /// The trial's time, start and stop read on the clock on the wall that the log shows.
  ///
  /// The zone that start and stop state themselves is used only where the log has nothing of that
  /// time (Documentation/FieldTrials.md 2.2).
  func span(onTheClockOf log: PhoneLog) -> ClosedRange<Date> {
    let wall = start.wallSeconds...stop.wallSeconds
    let during = log.sightings.first { wall.contains($0.time.wallSeconds) }
    let zone = during?.time.zoneSeconds ?? start.zoneSeconds
    return start.date(zoneSeconds: zone)...stop.date(zoneSeconds: zone)
  }
}
