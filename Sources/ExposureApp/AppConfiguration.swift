import Foundation
import KeyServerAPI

/// What one health authority's app is built with.
public struct AppConfiguration: Sendable {
  /// Where codes are turned into tokens, without a path.
  public let verificationServer: URL
  /// Where keys are uploaded and key files lie, without a path.
  public let keyServer: URL
  /// Whose keys are shared and read, such as `PL`.
  public let region: String
  /// `ios` or `android`, as the key server knows it.
  public let platform: String
  /// The app's bundle identifier, as the key server knows it.
  public let appPackageName: String
  /// The public keys that a remote configuration may be signed with.
  public let remoteConfigurationKeys: [RemoteConfigurationKey]
  /// How exposure windows are judged; nil for an app of API version 1, which scores encounters.
  public let windowRisk: WindowRiskAssessment?

  /// Builds an app for one health authority.
  public init(
    verificationServer: URL, keyServer: URL, region: String = "PL", platform: String = "ios",
    appPackageName: String, remoteConfigurationKeys: [RemoteConfigurationKey],
    windowRisk: WindowRiskAssessment? = nil
  ) {
    self.verificationServer = verificationServer
    self.keyServer = keyServer
    self.region = region
    self.platform = platform
    self.appPackageName = appPackageName
    self.remoteConfigurationKeys = remoteConfigurationKeys
    self.windowRisk = windowRisk
  }
}
