import Foundation

/// Whom to ask whether a device is genuine, and as whom.
///
/// Apple's DeviceCheck by its documented HTTP interface. Documentation/SeedContract.md 4.4.
public struct DeviceCheckConfiguration: Sendable {
  /// Where the authority is, such as `https://api.devicecheck.apple.com`.
  public var baseURL: URL
  /// The developer team that asks.
  public var teamID: String
  /// Which of the team's keys signs.
  public var keyID: String
  /// That key: P-256 in PEM, PKCS#8.
  public var privateKeyPEM: String
  /// The platforms whose uploads must carry a proof.
  public var requiredPlatforms: Set<String>

  /// An authority to ask; by default for uploads of platform `ios`.
  public init(
    baseURL: URL, teamID: String, keyID: String, privateKeyPEM: String,
    requiredPlatforms: Set<String> = ["ios"]
  ) {
    self.baseURL = baseURL
    self.teamID = teamID
    self.keyID = keyID
    self.privateKeyPEM = privateKeyPEM
    self.requiredPlatforms = requiredPlatforms
  }
}

extension DeviceCheckConfiguration: CustomStringConvertible, CustomReflectable {
  public var description: String { "DeviceCheckConfiguration(\(teamID), key \(keyID))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
