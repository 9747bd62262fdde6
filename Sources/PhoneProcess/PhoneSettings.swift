import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation

/// The constants of a phone, which its owner or their health authority puts into a file.
package struct PhoneSettings: Sendable {
  /// The servers, the region, the app and the health authority's root key. With rules for exposure windows the
  /// phone has version 2 of the framework's interface, otherwise version 1.
  package let app: AppConfiguration

  /// The calibration of the phone's radio.
  package let calibration: Calibration

  /// The server of the health authority's statistics; `nil` without one.
  package let statistics: URL?

  /// Creates settings.
  package init(
    app: AppConfiguration, calibration: Calibration = .unknownModel, statistics: URL? = nil
  ) {
    self.app = app
    self.calibration = calibration
    self.statistics = statistics
  }

  /// The version of the framework's interface.
  var apiVersion: Int { app.windowRisk == nil ? 1 : 2 }

  /// The region without keys: they come in documents that the root key has signed.
  var region: RegionConfiguration { RegionConfiguration(region: app.region, keys: []) }
}
