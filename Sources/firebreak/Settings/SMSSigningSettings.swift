import Foundation
import VerificationServer

/// The key that signs texts, and the id by which phones know it. Documentation/VerificationServer.md 7.3.
struct SMSSigningSettings: Codable {
  var keyID: String
  /// The file of the key, in PEM.
  var keyFile: String

  init(from decoder: any Decoder) throws {
    let fields = try SettingFields<CodingKeys>(decoder)
    keyID = try fields.name(.keyID)
    keyFile = try fields.name(.keyFile)
  }

  /// The signer, with the key from its file below `folder`.
  func signer(in folder: URL) throws -> SMSSigner {
    try SecretFile(keyFile, in: folder, setting: "sms.signing.keyFile").key {
      try SMSSigner(keyID: keyID, privateKeyPEM: $0)
    }
  }
}
