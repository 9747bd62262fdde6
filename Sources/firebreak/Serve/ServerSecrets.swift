import Crypto
import Foundation
import KeyServer
import Secrets
import Terminal
import UploadToken
import World

/// The secrets of the verification server: `verification/secrets.json`.
struct VerificationSecrets: Codable, Redacted {
  /// The key for the hashes of stored codes, 32 bytes.
  let codeHashKey: Data
  /// The accepted values of the `api-token` header in the ProteGO Safe contract.
  var apiTokens: [String]
  /// The keys that sign tokens and certificates.
  var signingKeys: [SecretSigningKey]

  init(randomness: any Randomness) {
    codeHashKey = Data(randomness.bytes(32))
    apiTokens = [Data(randomness.bytes(24)).base64EncodedString()]
    signingKeys = [SecretSigningKey(keyID: "t1", keyVersion: nil, validFrom: nil)]
  }
}

extension VerificationSecrets {
  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> VerificationSecrets? {
    try folder.verificationSecrets.read(Self.self, neededBy: folder.verificationDatabase)
  }

  /// The secrets of a server, which are created for its first start.
  static func storedOrNew(in folder: ServerFolder) throws -> VerificationSecrets {
    try stored(in: folder)
      ?? folder.verificationSecrets.create(VerificationSecrets(randomness: SystemRandomness()))
  }

  /// - Throws: If a key is not valid PEM, or two keys have the same id.
  var tokenKeys: SigningKeys {
    get throws { try SigningKeys(signingKeys.map { try $0.tokenKey }) }
  }
}

/// The secrets of the key server: `keys/secrets.json`.
struct KeySecrets: Codable, Redacted {
  /// The key for everything that the database stores encrypted or hashed, 32 bytes.
  let databaseKey: Data
  /// The keys that sign key files.
  var signingKeys: [SecretSigningKey]

  /// New secrets with the first version of the key `keyID`.
  init(keyID: String, randomness: any Randomness = SystemRandomness()) {
    databaseKey = Data(randomness.bytes(KeyServerLimit.databaseKeyBytes))
    signingKeys = [SecretSigningKey(keyID: keyID, keyVersion: "v1", validFrom: nil)]
  }

  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> KeySecrets? {
    try folder.keySecrets.read(Self.self, neededBy: folder.keyDatabase)
  }
}

/// A signing key in a file of secrets.
struct SecretSigningKey: Codable, Redacted {
  /// The id in tokens and key files.
  let keyID: String
  /// The version in key files; `nil` for keys that sign tokens.
  let keyVersion: String?
  let privateKeyPEM: String
  /// The public key, which detects a damaged private key.
  let publicKeyPEM: String
  /// Start of validity in Unix seconds; `nil` for no start.
  let validFrom: Int64?
  /// End of validity in Unix seconds, exclusive; `nil` for no end.
  var validThru: Int64?

  /// Generates a key.
  init(keyID: String, keyVersion: String?, validFrom: Date?) {
    self.keyID = keyID
    self.keyVersion = keyVersion
    let key = P256.Signing.PrivateKey()
    (privateKeyPEM, publicKeyPEM) = (key.pemRepresentation, key.publicKey.pemRepresentation)
    self.validFrom = validFrom.map { Int64($0.timeIntervalSince1970) }
  }

  /// - Throws: `DecodingError` if the public half does not belong to the private key.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    keyID = try fields.decode(String.self, forKey: .keyID)
    keyVersion = try fields.decodeIfPresent(String.self, forKey: .keyVersion)
    privateKeyPEM = try fields.decode(String.self, forKey: .privateKeyPEM)
    publicKeyPEM = try fields.decode(String.self, forKey: .publicKeyPEM)
    validFrom = try fields.decodeIfPresent(Int64.self, forKey: .validFrom)
    validThru = try fields.decodeIfPresent(Int64.self, forKey: .validThru)
    let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    guard key?.publicKey.pemRepresentation == publicKeyPEM else {
      throw DecodingError.dataCorruptedError(
        forKey: .publicKeyPEM, in: fields, debugDescription: "The private key is damaged.")
    }
  }

  var exportSigner: ExportSigner {
    ExportSigner(
      privateKeyPEM: privateKeyPEM, keyID: keyID, keyVersion: keyVersion ?? "v1",
      validFrom: validFrom.map(Self.date), validThru: validThru.map(Self.date))
  }

  /// - Throws: If the private key is not valid PEM.
  var tokenKey: SigningKey {
    get throws {
      try SigningKey(
        keyID: keyID, privateKeyPEM: privateKeyPEM,
        signsFrom: validFrom.map(Self.date) ?? .distantPast,
        publishedUntil: validThru.map(Self.date) ?? .distantFuture)
    }
  }

  var description: String { "SecretSigningKey(\(keyID) \(keyVersion ?? ""))" }

  private static func date(_ seconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(seconds))
  }
}
