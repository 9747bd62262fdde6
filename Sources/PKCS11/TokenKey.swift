// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// A private key on a token. It never leaves the token, which signs.
///
/// The module is loaded and the token opened when the key is first used, and again after the token was away.
package struct TokenKey: P256Signer, Redacted {
  /// Reads the PIN in a file.
  package typealias PINReader = @Sendable (_ file: String) throws -> String

  package let uri: TokenKeyURI
  package let publicKey: P256.Signing.PublicKey
  /// True: a module of a device in a network may wait for it.
  package var mayBlock: Bool { true }
  private let readPIN: PINReader

  /// A key that was registered with its public half. Nothing is opened.
  package init(_ uri: TokenKeyURI, publicKey: P256.Signing.PublicKey, readPIN: @escaping PINReader)
  {
    self.uri = uri
    self.publicKey = publicKey
    self.readPIN = readPIN
  }

  /// Opens the token, reads the public key, and lets the private key sign once to see that it belongs to it.
  ///
  /// - Throws: `TokenKeyError`, or the error of `readPIN`.
  package init(opening uri: TokenKeyURI, readPIN: @escaping PINReader) throws {
    let point = try TokenModule.at(uri.modulePath).withSession(for: uri, readPIN) {
      try $0.publicPoint()
    }
    let publicKey: P256.Signing.PublicKey
    do {
      publicKey = try P256.Signing.PublicKey(x963Representation: point)
    } catch {
      throw TokenKeyError.otherCurve(uri.key.description)
    }
    self.init(uri, publicKey: publicKey, readPIN: readPIN)
    try signTest()
  }

  package func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
    let raw = try TokenModule.at(uri.modulePath).withSession(for: uri, readPIN) {
      try $0.signature(of: Array(digest))
    }
    // A signature of another length or by another key is not valid either.
    guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw),
      publicKey.isValidSignature(signature, for: digest)
    else { throw TokenKeyError.otherKey(uri.key.description) }
    return signature
  }

  /// Looks for the key on the token, without a signature.
  package func checkAvailability() throws {
    let point = try TokenModule.at(uri.modulePath).withSession(for: uri, readPIN) {
      try $0.publicPoint()
    }
    guard Data(point) == publicKey.x963Representation else {
      throw TokenKeyError.otherKey(uri.key.description)
    }
  }

  package var description: String { "TokenKey(\(uri.key))" }
}
