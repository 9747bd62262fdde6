/// What the authority says of a device token.
enum DeviceCheckVerdict: Hashable, Sendable {
  /// It comes from a genuine device.
  case genuine
  /// It does not.
  case notGenuine
  /// Nobody can say just now: no answer, a late one, or one about us and not about the device.
  case unknown
}
