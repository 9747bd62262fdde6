/// What is read of a folder that somebody else filled.
package enum FieldTrialLimit {
  /// Files in the folder, at any depth.
  package static let files = 100_000
  /// Bytes of one file: a phone's log of some weeks.
  package static let fileBytes = 64 << 20
  /// Signal strengths that a radio can report, in dBm.
  package static let signalStrengths: ClosedRange<Int> = -127...20
  /// Corrections that a receiver can have, in dB, either way.
  package static let receiverOffsets: ClosedRange<Int> = -60...60
}
