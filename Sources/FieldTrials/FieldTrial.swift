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

/// One phone of a trial.
package struct TrialPhone: Sendable {
  /// Its number in the trial, such as `07`.
  package let id: String
  /// What it told its owner, or that its owner was the sick one.
  package let outcome: TrialOutcome
  /// Whether it is an iPhone; those log no sightings.
  package let isIPhone: Bool
  /// The power its beacons are taken to be sent with where its log does not say, in dBm.
  package let assumedTransmitPower: Int8?
  /// How far its clock is from the trial's, in seconds.
  package let clockOffset: Double
  /// What it logged.
  package let log: PhoneLog

  /// Whether something can be computed for it (Documentation/FieldTrials.md 3.1); by its outcome it is a
  /// positive, a negative or, with a low alert, neither.
  package var isCompared: Bool { outcome != .sick && !isIPhone && !log.sightings.isEmpty }
}

/// What a phone told its owner at the end of a trial.
package enum TrialOutcome: String, CaseIterable, Decodable, Sendable {
  /// Nothing: this is the phone of the person who was marked sick.
  case sick
  /// An alert of high risk.
  case high
  /// An alert of low risk.
  case low
  /// No alert.
  case none
}
