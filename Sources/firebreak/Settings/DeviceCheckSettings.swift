import Crypto
import Foundation
import KeyServer

/// Whom to ask whether a device is genuine, and as whom: Apple, unless another address is set.
///
/// Documentation/Serving.md 10.
struct DeviceCheckSettings: Codable {
  var baseURL = DeviceCheckConfiguration.productionAddress
  var teamID: String
  var keyID: String
  /// The file of the team's key, as Apple hands it out (`.p8`).
  var keyFile: String
  var bundleIDs: [String] = []

  init(from decoder: any Decoder) throws {
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.baseURL, intoAddress: &baseURL)
    teamID = try fields.name(.teamID)
    keyID = try fields.name(.keyID)
    keyFile = try fields.name(.keyFile)
    try fields.read(.bundleIDs, intoNames: &bundleIDs)
  }

  /// What the key server is told; the key is read from its file below `folder`.
  func configuration(in folder: URL) throws -> DeviceCheckConfiguration {
    let key = try SecretFile(keyFile, in: folder, setting: "deviceCheck.keyFile").key(
      P256.Signing.PrivateKey.init(pemRepresentation:))
    guard let url = URL(string: baseURL) else {
      throw CommandFailure.badInput("deviceCheck.baseURL needs an address.")
    }
    return DeviceCheckConfiguration(
      baseURL: url, teamID: teamID, keyID: keyID, privateKeyPEM: key.pemRepresentation,
      bundleIDs: Set(bundleIDs))
  }
}
