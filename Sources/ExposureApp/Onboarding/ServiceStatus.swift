/// Whether the phone notices encounters (bridge message 51).
public struct ServiceStatus: Sendable, Hashable {
  /// Exposure notifications, by their number on the bridge.
  public enum ExposureNotifications: Int, Sendable, CaseIterable {
    case on = 1
    case off = 2
    /// This phone cannot, or may not.
    case restricted = 3
  }

  /// Whether encounters are noticed.
  public let exposureNotifications: ExposureNotifications
  /// Whether Bluetooth is on, as far as the framework says.
  public let isBluetoothOn: Bool
}
