// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import PKCS11
import Secrets
import Settings
import Terminal
import UploadToken
import World

/// A signing key in a file of secrets: the private key, or its place on a token.
struct SecretSigningKey: Codable, Equatable, Redacted {
  /// The id in tokens and key files.
  let keyID: String
  /// The version in key files; `nil` for keys that sign tokens.
  let keyVersion: String?
  /// The private key; `nil` if it is on a token.
  let privateKeyPEM: String?
  /// The PKCS#11 URI of the private key; `nil` if it is not on a token.
  let tokenKey: String?
  /// The public key, which detects a damaged or exchanged private key.
  let publicKeyPEM: String
  /// Start of validity in Unix seconds; `nil` for no start.
  let validFrom: Int64?
  /// End of validity in Unix seconds, exclusive; `nil` for no end.
  var validThru: Int64?

  /// Generates a key, or registers the one on a token.
  init(keyID: String, keyVersion: String?, validFrom: Date?, on token: TokenKey? = nil) {
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.validFrom = validFrom.map(\.unixSecond)
    if let token {
      (privateKeyPEM, tokenKey) = (nil, token.uri.text)
      publicKeyPEM = token.publicKey.pemRepresentation
    } else {
      let key = P256.Signing.PrivateKey()
      (privateKeyPEM, tokenKey) = (key.pemRepresentation, nil)
      publicKeyPEM = key.publicKey.pemRepresentation
    }
  }

  private init(_ key: SecretSigningKey, privateKeyPEM: String? = nil, tokenKey: String? = nil) {
    (keyID, keyVersion) = (key.keyID, key.keyVersion)
    (self.privateKeyPEM, self.tokenKey) = (privateKeyPEM, tokenKey)
    publicKeyPEM = key.publicKeyPEM
    (validFrom, validThru) = (key.validFrom, key.validThru)
  }

  /// The same key in another place: `token` has its private key.
  func relocated(to token: TokenKey) -> SecretSigningKey {
    SecretSigningKey(self, tokenKey: token.uri.text)
  }

  /// The same key in the place that it has among `own`, the keys of this machine; as it is if they do not have it.
  func inPlace(of own: [SecretSigningKey]) -> SecretSigningKey {
    guard let own = own.first(where: { $0.publicKeyPEM == publicKeyPEM }) else { return self }
    return SecretSigningKey(self, privateKeyPEM: own.privateKeyPEM, tokenKey: own.tokenKey)
  }

  /// The key without its place, for comparisons. It cannot sign.
  var withoutPlace: SecretSigningKey { SecretSigningKey(self) }

  /// - Throws: `DecodingError` if the public half does not belong to the private key, or the place is not a URI.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    keyID = try fields.decode(String.self, forKey: .keyID)
    keyVersion = try fields.decodeIfPresent(String.self, forKey: .keyVersion)
    privateKeyPEM = try fields.decodeIfPresent(String.self, forKey: .privateKeyPEM)
    tokenKey = try fields.decodeIfPresent(String.self, forKey: .tokenKey)
    publicKeyPEM = try fields.decode(String.self, forKey: .publicKeyPEM)
    validFrom = try fields.decodeIfPresent(Int64.self, forKey: .validFrom)
    validThru = try fields.decodeIfPresent(Int64.self, forKey: .validThru)
    if let tokenKey {
      do { _ = try TokenKeyURI(tokenKey) } catch {
        throw DecodingError.dataCorruptedError(
          forKey: .tokenKey, in: fields, debugDescription: "\(error)")
      }
    }
    // Text that is not a key belongs to no public key.
    guard (privateKeyPEM == nil) != (tokenKey == nil),
      (try? signer())?.publicKey.pemRepresentation == publicKeyPEM
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .publicKeyPEM, in: fields, debugDescription: "The private key is damaged.")
    }
  }

  /// The key; a token is opened when it signs.
  ///
  /// - Throws: If the private key, its place or the public key is not valid.
  func signer() throws -> any P256Signer {
    if let tokenKey {
      return TokenKey(
        try TokenKeyURI(tokenKey),
        publicKey: try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM),
        readPIN: TokenKey.pinInFile)
    }
    return try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM ?? "")
  }

  /// - Throws: As `signer()`.
  func exportSigner() throws -> ExportSigner {
    ExportSigner(
      key: try signer(), keyID: keyID, keyVersion: keyVersion ?? "v1",
      validFrom: validFrom.map(Self.date), validThru: validThru.map(Self.date))
  }

  /// - Throws: As `signer()`.
  func uploadTokenKey() throws -> SigningKey {
    SigningKey(
      keyID: keyID, signer: try signer(),
      signsFrom: validFrom.map(Self.date) ?? .distantPast,
      publishedUntil: validThru.map(Self.date) ?? .distantFuture)
  }

  var description: String { "SecretSigningKey(\(keyID) \(keyVersion ?? ""))" }

  private static func date(_ seconds: Int64) -> Date {
    Date(unixSecond: seconds)
  }
}

extension TokenKey {
  /// Reads the PIN from a file that only its owner can read.
  static let pinInFile: PINReader = {
    try PrivateFile(URL(fileURLWithPath: $0)).secret(named: "pin-source")
  }

  /// Opens the key that an option names, and reads its public half.
  ///
  /// - Parameter option: The option, for the error.
  /// - Throws: `CommandFailure`
  init(_ text: String, option: String) throws {
    do {
      try self.init(opening: TokenKeyURI(text), readPIN: Self.pinInFile)
    } catch let error as TokenKeyError {
      throw CommandFailure(error, option: option)
    }
  }
}

extension CommandFailure {
  /// The failure of a command whose key is on a token: of the machine if the token is away, of the input if the URI,
  /// the key or the PIN is wrong.
  init(_ error: TokenKeyError, option: String) {
    self.init(
      status: error.isOfMachine ? .machineFailed : .badInput, message: "\(option): \(error)")
  }
}
