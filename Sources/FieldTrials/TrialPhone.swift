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
