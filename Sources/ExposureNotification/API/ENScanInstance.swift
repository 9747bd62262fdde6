import Foundation

/// One Bluetooth scan within an exposure window.
open class ENScanInstance: NSObject {
  private let scan: ScanInstance

  /// A scan that heard nothing.
  public override init() {
    scan = ScanInstance(minimumAttenuation: 0, typicalAttenuation: 0, secondsSinceLastScan: 0)
  }

  /// The scan of a window that was found.
  package init(_ scan: ScanInstance) {
    self.scan = scan
  }

  /// The least attenuation of the scan's beacons, in dB.
  open var minimumAttenuation: ENAttenuation { scan.minimumAttenuation }
  /// The mean attenuation of the scan's beacons, in dB, rounded.
  open var typicalAttenuation: ENAttenuation { scan.typicalAttenuation }
  /// Seconds since the scan before, at most 300, in whole minutes.
  open var secondsSinceLastScan: Int { scan.secondsSinceLastScan }
}
