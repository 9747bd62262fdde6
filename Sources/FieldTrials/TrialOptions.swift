// SPDX-License-Identifier: Apache-2.0

/// The open questions about a recording, as the reader answers them.
package struct TrialOptions: Hashable, Sendable {
  /// The kind of signal strengths.
  package var signal: SignalReading
  /// The source of the transmit power of iPhones.
  package var iPhonePower: IPhonePower

  package init(signal: SignalReading = .corrected, iPhonePower: IPhonePower = .setup) {
    self.signal = signal
    self.iPhonePower = iPhonePower
  }

  /// The same options with the other transmit power of iPhones.
  package var withOtherIPhonePower: TrialOptions {
    TrialOptions(signal: signal, iPhonePower: iPhonePower.other)
  }
}

/// The kind of signal strengths in a recording.
package enum SignalReading: String, Sendable {
  /// Corrected for the receiver's antenna, as Android logs them.
  case corrected
  /// As received by the antenna: the receiver's offset must be added.
  case uncorrected
}

/// The source of the transmit power of iPhones. Recordings withhold their metadata.
package enum IPhonePower: String, CaseIterable, Sendable {
  /// The setup of the trial; the log if the setup states none.
  case setup
  /// The log; the setup if the log states none.
  case log

  /// The other source.
  package var other: IPhonePower { self == .setup ? .log : .setup }
}
