/// What came of turning exposure notifications on.
public enum EnableOutcome: String, Sendable, CaseIterable {
  /// They are on.
  case enabled
  /// They are on, but Bluetooth is off, so nothing is heard.
  case bluetoothOff
  /// The person said no; they can change it in Settings.
  case refused
  /// This phone cannot.
  case unsupported
  /// It did not work this time: try again.
  case failed
}
