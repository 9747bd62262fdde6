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
