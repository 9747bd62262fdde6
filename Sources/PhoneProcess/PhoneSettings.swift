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
  /// The options with which the phone was started.
  package var start = PhoneStart()

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

/// The options of a command that must be equal to those of the running phone.
package struct PhoneStart: Codable, Hashable, Sendable {
  /// The offset of the clock in seconds; 0 if none was given.
  package var clockOffset = 0
  /// The path of the configuration; `nil` if none was given.
  package var configuration: String?
  /// The path of the file of the sealing key; `nil` if none was given.
  package var keyFile: String?

  /// No options.
  package init() {}

  /// The normalized form of a path for comparisons.
  package static func path(_ text: String) -> String {
    URL(fileURLWithPath: text).resolvingSymlinksInPath().path
  }

  /// The error reply to a command whose options differ from those of the running phone; `nil` if they are equal.
  func refusal(of command: PhoneStart) -> PhoneReply? {
    let isOffset = command.clockOffset == 0 || command.clockOffset == clockOffset
    let options = [
      isOffset ? nil : "--clock-offset",
      Self.fits(command.configuration, configuration) ? nil : "--config",
      Self.fits(command.keyFile, keyFile) ? nil : "--key-file",
    ].compactMap(\.self)
    guard !options.isEmpty else { return nil }
    return PhoneReply(
      .badInput,
      "The phone is running with another \(options.joined(separator: " and ")): leave the option out, or stop"
        + " the phone first.")
  }

  /// A phone whose key is a credential of systemd has no path to compare.
  private static func fits(_ given: String?, _ running: String?) -> Bool {
    given == nil || running == nil || given == running
  }
}
