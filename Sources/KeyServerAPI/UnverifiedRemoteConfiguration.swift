import Crypto
import Foundation

/// A remote configuration as it came off the wire. It can do one thing: be verified.
///
/// Documentation/SeedContract.md 6.1: `{"payload","keyID","keyVersion","signature"}`, the signature
/// (P-256, SHA-256, DER) over a fixed line and the payload, so that it can never be taken for the
/// signature of a key file, which the same key makes.
public struct UnverifiedRemoteConfiguration: Codable, Hashable, Sendable {
  /// Bytes a phone is willing to read.
  public static let bytesMax = 64 * 1024

  private let payload: Data
  private let keyID: String
  private let keyVersion: String
  private let signature: Data

  /// Reads what a server sent.
  public init(decoding bytes: Data) throws(RemoteConfigurationError) {
    guard bytes.count <= Self.bytesMax,
      let wire = try? JSONDecoder().decode(Self.self, from: bytes)
    else { throw .malformed }
    self = wire
  }

  /// The configuration, where its owner signed it and it is not older than `version`.
  public func verified(
    by keys: [RemoteConfigurationKey], notBefore version: Int = 0
  ) throws(RemoteConfigurationError) -> RemoteConfiguration {
    let named = keys.filter { $0.keyID == keyID && $0.keyVersion == keyVersion }
    guard !named.isEmpty else { throw .unknownKey }
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
      named.contains(where: {
        $0.publicKey.isValidSignature(signature, for: Self.signedBytes(payload))
      })
    else { throw .wrongSignature }
    guard let configuration = try? JSONDecoder().decode(RemoteConfiguration.self, from: payload)
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
  /// - Throws: `RemoteConfigurationError.invalid` where a value is out of bounds or the PEM (SEC1 or
  ///   PKCS#8) holds no P-256 private key.
  public static func signed(
    _ configuration: RemoteConfiguration, privateKeyPEM: String, keyID: String, keyVersion: String
  ) throws(RemoteConfigurationError) -> UnverifiedRemoteConfiguration {
    if let fault = configuration.fault { throw .invalid(fault) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM),
      let payload = try? encoder.encode(configuration),
      let signature = try? key.signature(for: signedBytes(payload))
    else { throw .invalid("privateKeyPEM must be a P-256 private key.") }
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
