// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings

/// A received remote configuration that has not been verified.
///
/// It is `{"payload","keyID","keyVersion","signature"}`. The signature (P-256, SHA-256, DER) covers a
/// fixed line and the payload. The line separates it from signatures of key files by the same key.
public struct UnverifiedRemoteConfiguration: Codable, Hashable, Sendable {
  /// The maximum size that a phone reads, in bytes.
  public static let bytesMax = 64 * 1024

  private let payload: Data
  private let keyID: String
  private let keyVersion: String
  private let signature: Data

  /// Decodes the response of a server.
  public init(decoding bytes: Data) throws(RemoteConfigurationError) {
    guard bytes.count <= Self.bytesMax,
      let wire = JSONDecoder().decodeIfValid(Self.self, from: bytes)
    else { throw .malformed }
    self = wire
  }

  /// Returns the configuration if one of `keys` signed it and it is not older than `version`.
  public func verified(
    by keys: [RemoteConfigurationKey], notBefore version: Int = 0
  ) throws(RemoteConfigurationError) -> RemoteConfiguration {
    let named = keys.filter { $0.keyID == keyID && $0.keyVersion == keyVersion }
    guard !named.isEmpty else { throw .unknownKey }
    // Bytes without the form of a signature are a wrong one.
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
      named.contains(where: {
        $0.publicKey.isValidSignature(signature, for: Self.signedBytes(payload))
      })
    else { throw .wrongSignature }
    guard
      let configuration = JSONDecoder()
        .decodeIfValid(RemoteConfiguration.Received.self, from: payload)?.configuration
    else { throw .malformed }
    guard configuration.version >= version else { throw .rolledBack }
    if let fault = configuration.fault { throw .invalid(fault) }
    return configuration
  }

  private static func signedBytes(_ payload: Data) -> Data {
    Data("Firebreak remote configuration 1\n".utf8) + payload
  }
}

extension UnverifiedRemoteConfiguration {
  /// Signs `configuration` for the wire.
  ///
  /// - Throws: `RemoteConfigurationError.invalid` if a value is out of bounds or the PEM (SEC1 or
  ///   PKCS#8) is not a P-256 private key.
  public static func signed(
    _ configuration: RemoteConfiguration, privateKeyPEM: String, keyID: String, keyVersion: String
  ) throws(RemoteConfigurationError) -> UnverifiedRemoteConfiguration {
    do {
      let key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
      return try signed(configuration, by: key, keyID: keyID, keyVersion: keyVersion)
    } catch let error as RemoteConfigurationError {
      throw error
    } catch {
      throw .invalid("privateKeyPEM must be a P-256 private key.")
    }
  }

  /// Signs `configuration` with a key that may be on a token.
  ///
  /// - Throws: `RemoteConfigurationError.invalid` if a value is out of bounds, or the error of `key`.
  package static func signed(
    _ configuration: RemoteConfiguration, by key: any P256Signer, keyID: String, keyVersion: String
  ) throws -> UnverifiedRemoteConfiguration {
    if let fault = configuration.fault { throw RemoteConfigurationError.invalid(fault) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let payload = try encoder.encode(configuration)
    let signature = try key.signature(for: SHA256.hash(data: signedBytes(payload)))
    return UnverifiedRemoteConfiguration(
      payload: payload, keyID: keyID, keyVersion: keyVersion,
      signature: signature.derRepresentation)
  }

  /// The bytes to serve.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  private init(payload: Data, keyID: String, keyVersion: String, signature: Data) {
    self.payload = payload
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.signature = signature
  }
}

/// A public key in the app with which remote configurations are verified.
///
/// It is the key that signs key files, with the same ID and version.
public struct RemoteConfigurationKey: Sendable {
  /// The key ID, usually the mobile country code: `260`.
  public let keyID: String
  /// The key version: `v1`.
  public let keyVersion: String
  let publicKey: P256.Signing.PublicKey

  /// Creates a key from PEM (P-256, SubjectPublicKeyInfo).
  ///
  /// - Throws: `RemoteConfigurationError.invalid` if the text is not such a key.
  public init(keyID: String, keyVersion: String, publicKeyPEM: String)
    throws(RemoteConfigurationError)
  {
    do {
      publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
    } catch {
      throw .invalid("publicKeyPEM must be a P-256 public key.")
    }
    self.keyID = keyID
    self.keyVersion = keyVersion
  }
}

/// The reason why a remote configuration is rejected. The phone keeps its current one.
public enum RemoteConfigurationError: Error, Hashable, Sendable {
  /// Not JSON of the signed form, or too large.
  case malformed
  /// Signed by a key that the app does not have.
  case unknownKey
  /// The signature is invalid.
  case wrongSignature
  /// Older than the current configuration.
  case rolledBack
  /// A value is out of bounds. The message names its field.
  case invalid(String)
}

extension RemoteConfigurationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "Remote configuration rejected: it is malformed; download it again."
    case .unknownKey: "Remote configuration rejected: its signing key is unknown; update the app."
    case .wrongSignature:
      "Remote configuration rejected: its signature is invalid; download it again."
    case .rolledBack: "Remote configuration rejected: it is older than the current one."
    case .invalid(let message): "Remote configuration rejected: \(message)"
    }
  }
}
