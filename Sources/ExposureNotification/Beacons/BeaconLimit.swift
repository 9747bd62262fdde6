/// When a beacon changes.
package enum BeaconLimit {
  /// After how many seconds identifier, metadata and address change: more than ten minutes, less
  /// than twenty (Bluetooth Specification 1.2.2, "Privacy").
  package static let rotationSeconds = 601...1199
}
