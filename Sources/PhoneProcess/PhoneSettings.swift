import ExposureApp
import ExposureNotification
import Foundation

/// The constants of a phone, which its owner or their health authority puts into a file.
package struct PhoneSettings: Sendable {
  /// The servers, the region, the app and the health authority's key.
  package var app: AppConfiguration
  /// The region and the keys that key files must be signed with.
  package var region: RegionConfiguration
  /// The version of the framework's interface and of the risk assessment: 1 or 2.
  package var riskVersion = 1
  /// The transmit power of the radio in dBm, as stated in the beacons.
  package var transmitPower: Int8 = 8

  /// Creates settings with the default risk version and transmit power.
  package init(app: AppConfiguration, region: RegionConfiguration) {
    self.app = app
    self.region = region
  }
}
