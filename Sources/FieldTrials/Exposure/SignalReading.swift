/// What the signal strengths of a recording are (Documentation/FieldTrials.md 2.3).
package enum SignalReading: String, Sendable {
  /// As Android logs them: corrected for the receiver's antenna already.
  case corrected
  /// As the antenna heard them: the receiver's offset is still to be added.
  case uncorrected
}
