import Foundation
import Secrets

/// The access to Apple's DeviceCheck, which verifies that a device token comes from a genuine device.
public struct DeviceCheckConfiguration: Sendable, Redacted {
  /// The address of the service.
  public var baseURL: URL
  /// The developer team.
  public var teamID: String
  /// The id of the team's key that signs requests.
  public var keyID: String
  /// The key: P-256 in PEM, PKCS#8.
  public var privateKeyPEM: String
  /// The team's apps, by their names in uploads. DeviceCheck rejects other apps, so an upload of another app is
  /// rejected without a request. Empty if all apps that may upload belong to the team.
  public var bundleIDs: Set<String>

  /// The address of Apple's production service.
  public static let productionURL =
    URL(string: "https://api.devicecheck.apple.com")
    ?? URL(fileURLWithPath: "/")

  /// The access of one team with one key.
  public init(
    baseURL: URL, teamID: String, keyID: String, privateKeyPEM: String, bundleIDs: Set<String> = []
  ) {
    self.baseURL = baseURL
    self.teamID = teamID
    self.keyID = keyID
    self.privateKeyPEM = privateKeyPEM
    self.bundleIDs = bundleIDs
  }
}

extension DeviceCheckConfiguration {
  public var description: String { "DeviceCheckConfiguration(\(teamID), key \(keyID))" }
}
