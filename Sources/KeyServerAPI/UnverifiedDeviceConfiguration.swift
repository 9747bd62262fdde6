// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings

/// A received device configuration that has not been verified.
///
/// It is `{"payload","signature"}`. The signature (P-256, SHA-256, DER) by the root key covers a fixed line
/// and the payload.
public struct UnverifiedDeviceConfiguration: Codable, Hashable, Sendable {
  private let payload: Data
  private let signature: Data

  /// Decodes the response of a server.
  public init(decoding bytes: Data) throws(DeviceConfigurationError) {
    guard bytes.count <= DeviceConfigurationLimit.bytesMax,
      let wire = JSONDecoder().decodeIfValid(Self.self, from: bytes)
    else { throw .malformed }
    self = wire
  }

  /// Returns the document if `root` signed it, its version is at least `version`, and it has not expired.
  public func verified(
    by root: RootKey, notBefore version: Int = 0, at moment: Date
  ) throws(DeviceConfigurationError) -> DeviceConfiguration {
    let document = try verified(by: root)
    guard document.version >= version else {
      throw .rolledBack(version: document.version, current: version)
    }
    guard !document.isExpired(at: moment) else { throw .expired(document.expires) }
    return document
  }

  /// Returns the document if `root` signed it, of any version and age; for the authority itself.
  public func verified(by root: RootKey) throws(DeviceConfigurationError) -> DeviceConfiguration {
    // Bytes without the form of a signature are a wrong one.
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
      root.publicKey.isValidSignature(signature, for: Self.signedBytes(payload))
    else { throw .wrongSignature }
    return try decoded()
  }

  /// The document without a check of the signature, for the server that serves it.
  package func unverified() throws(DeviceConfigurationError) -> DeviceConfiguration {
    try decoded()
  }

  private func decoded() throws(DeviceConfigurationError) -> DeviceConfiguration {
    guard let document = JSONDecoder().decodeIfValid(DeviceConfiguration.self, from: payload) else {
      throw .malformed
    }
    if let fault = document.fault { throw .invalid(fault) }
    return document
  }

  private static func signedBytes(_ payload: Data) -> Data {
    Data("Firebreak device configuration 1\n".utf8) + payload
  }
}

extension UnverifiedDeviceConfiguration {
  /// Signs `document` for the wire.
  ///
  /// - Throws: `DeviceConfigurationError.invalid` if a value is out of bounds or the document is too large, or the
  ///   error of the key.
  public static func signed(
    _ document: DeviceConfiguration, by root: RootPrivateKey
  ) throws -> UnverifiedDeviceConfiguration {
    if let fault = document.fault { throw DeviceConfigurationError.invalid(fault) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let payload = try encoder.encode(document)
    let signature = try root.key.signature(for: SHA256.hash(data: signedBytes(payload)))
    let signed = Self(payload: payload, signature: signature.derRepresentation)
    guard try signed.encoded().count <= DeviceConfigurationLimit.bytesMax else {
      throw DeviceConfigurationError.invalid(
        "it has more than \(DeviceConfigurationLimit.bytesMax) bytes.")
    }
    return signed
  }

  /// The bytes to serve.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  private init(payload: Data, signature: Data) {
    self.payload = payload
    self.signature = signature
  }
}

/// The private root key, which signs device configurations. The authority can store it offline.
public struct RootPrivateKey: Sendable, Redacted {
  let key: any P256Signer

  /// Reads a P-256 private key in PEM, SEC1 or PKCS#8.
  ///
  /// - Throws: `DeviceConfigurationError.invalid` if the text is not such a key.
  public init(privateKeyPEM: String) throws(DeviceConfigurationError) {
    do {
      key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    } catch {
      throw .invalid("the root key must be a P-256 private key in PEM.")
    }
  }

  /// Generates a key.
  public init() {
    key = P256.Signing.PrivateKey()
  }

  /// A key that may be on a token.
  package init(_ key: any P256Signer) {
    self.key = key
  }

  /// The key in PEM; nil for a key on a token.
  public var privateKeyPEM: String? { (key as? P256.Signing.PrivateKey)?.pemRepresentation }

  /// The public key.
  public var rootKey: RootKey { RootKey(key.publicKey) }
}

/// The reason why a device configuration is rejected. The phone keeps its current one.
public enum DeviceConfigurationError: Error, Codable, Hashable, Sendable {
  /// Not JSON of the signed form, or too large.
  case malformed
  /// The root key did not sign it.
  case wrongSignature
  /// Older than the current document.
  case rolledBack(version: Int, current: Int)
  /// Its time, in Unix seconds, is over.
  case expired(Int64)
  /// A value is out of bounds. The message names its field.
  case invalid(String)
}

extension DeviceConfigurationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "Device configuration rejected: it is malformed; download it again."
    case .wrongSignature:
      "Device configuration rejected: the root key did not sign it; check the server and the root key."
    case .rolledBack(let version, let current):
      "Device configuration rejected: its version \(version) is older than \(current)."
    case .expired(let time):
      "Device configuration rejected: it expired at \(time); check the clock, or ask the authority to sign it"
        + " again."
    case .invalid(let message): "Device configuration rejected: \(message)"
    }
  }
}
