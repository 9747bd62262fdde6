/// What one Bluetooth scan heard of one phone.
package struct ScanInstance: Hashable, Sendable {
  /// The least attenuation of the scan, in dB.
  package let minimumAttenuation: UInt8
  /// The mean attenuation of the scan, in dB, rounded to the nearest.
  package let typicalAttenuation: UInt8
  /// Seconds since the scan before: whole minutes, 0...300.
  package let secondsSinceLastScan: Int

  /// A scan with these figures.
  package init(minimumAttenuation: UInt8, typicalAttenuation: UInt8, secondsSinceLastScan: Int) {
    self.minimumAttenuation = minimumAttenuation
    self.typicalAttenuation = typicalAttenuation
    self.secondsSinceLastScan = secondsSinceLastScan
  }
}
