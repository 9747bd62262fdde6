import ExposureKeys

/// Drops sightings whose opened metadata no real phone would send.
///
/// Nothing authenticates the metadata: whoever relays a beacon can flip its bits, for instance to
/// make a far phone look near (Documentation/RiskScoring.md 1.4).
package enum PlausibilityRule {
  /// The protocol's major version.
  package static let majorVersion: UInt8 = 1

  /// Whether the metadata is of this protocol and states a transmit power that phones have.
  package static func isKept(_ sighting: MatchedSighting) -> Bool {
    sighting.metadata.majorVersion == majorVersion
      && BluetoothMetadata.plausibleTransmitPower.contains(sighting.metadata.transmitPower)
  }
}
