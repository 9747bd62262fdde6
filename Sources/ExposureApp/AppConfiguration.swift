// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// The constants that an app of one health authority is built with.
public struct AppConfiguration: Sendable {
  /// The server that exchanges PINs for tokens; without a path.
  public let verificationServer: URL
  /// The server that accepts keys and publishes key files; without a path.
  public let keyServer: URL
  /// The region of the phone, such as `PL`.
  public let region: String
  /// Other regions in which an upload is published; the server must allow them for this app.
  public let otherRegions: [String]
  /// `ios` or `android`; sent with each upload.
  public let platform: String
  /// The app's bundle identifier; sent with each upload.
  public let appPackageName: String
  /// The health authority's root key. All other keys come in documents that it signed.
  public let rootKey: RootKey
  /// The rules for exposure windows until the remote configuration has some; `nil` for an app of API
  /// version 1, which uses risk scores.
  public let windowRisk: WindowRiskAssessment?

  /// Creates the configuration for one health authority.
  public init(
    verificationServer: URL, keyServer: URL, region: String = "PL", otherRegions: [String] = [],
    platform: String = "ios", appPackageName: String, rootKey: RootKey,
    windowRisk: WindowRiskAssessment? = nil
  ) {
    self.verificationServer = verificationServer
    self.keyServer = keyServer
    self.region = region
    self.otherRegions = otherRegions
    self.platform = platform
    self.appPackageName = appPackageName
    self.rootKey = rootKey
    self.windowRisk = windowRisk
  }

  /// The regions of an upload.
  var uploadRegions: [String] { [region] + otherRegions }
}
