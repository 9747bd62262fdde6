import Foundation

/// A recorded trial: its phones with their logs and final alerts.
package struct FieldTrial: Sendable {
  /// The name, such as `train_1`.
  package let name: String
  /// The start, on the phones' clocks.
  package let start: LogTime
  /// The end, on the phones' clocks.
  package let stop: LogTime
  /// The participating phones that left a log.
  package let phones: [TrialPhone]

  /// The time of the trial: start and end in the time zone that the log shows.
  ///
  /// The zone stated with start and end is used only if the log has no sighting in that time, because
  /// published trials state a wrong zone.
  func span(inTimeZoneOf log: PhoneLog) -> ClosedRange<Date> {
    let wall = start.wallSeconds...stop.wallSeconds
    let during = log.sightings.first { wall.contains($0.time.wallSeconds) }
    let zone = during?.time.zoneSeconds ?? start.zoneSeconds
    return start.date(zoneSeconds: zone)...stop.date(zoneSeconds: zone)
  }
}

/// A phone of a trial.
package struct TrialPhone: Sendable {
  /// The number in the trial, such as `07`.
  package let id: String
  /// The phone's final alert, or `sick`.
  package let outcome: TrialOutcome
  /// True for an iPhone; iPhones log no sightings.
  package let isIPhone: Bool
  /// The assumed transmit power if the log does not state it, in dBm.
  package let assumedTransmitPower: Int8?
  /// The difference between its clock and the trial's, in seconds.
  package let clockOffset: Double
  /// The content of its log.
  package let log: PhoneLog

  /// True if a score can be computed for it. By its outcome it is a positive, a negative or, with a low
  /// alert, neither.
  package var isCompared: Bool { outcome != .sick && !isIPhone && !log.sightings.isEmpty }
}

/// The alert of a phone at the end of a trial.
package enum TrialOutcome: String, CaseIterable, Decodable, Sendable {
  /// No alert: the phone belongs to the participant who was marked sick.
  case sick
  /// A high-risk alert.
  case high
  /// A low-risk alert.
  case low
  /// No alert.
  case none
}
