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
  /// The team's apps, by their names in uploads: the authority vouches for no others, so an upload of another
  /// app is refused without asking. Empty where every app that may upload is the team's.
  public var bundleIDs: Set<String>

  /// Where Apple's own authority is.
  public static let productionAddress = "https://api.devicecheck.apple.com"

  /// An authority to ask.
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

extension DeviceCheckConfiguration: CustomStringConvertible, CustomReflectable {
  public var description: String { "DeviceCheckConfiguration(\(teamID), key \(keyID))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
