// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import QuietHTTP
import World

/// A health authority: it certifies keys for publication.
public struct HealthAuthority: Hashable, Sendable {
  /// The `iss` of its certificates, which identifies it.
  public var issuer: String
  /// The `aud` of its certificates: its name for this server.
  public var audience: String
  /// Its public keys in PEM (P-256, SubjectPublicKeyInfo), by key id.
  public var publicKeysPEM: [String: String]
  /// The address of its JSON Web Key Set; nil if its keys are added by hand.
  public var jwksURL: URL?
  /// True if it may read the statistics of its own uploads.
  public var seesStatistics: Bool

  /// An authority with `publicKeysPEM`, PEM by key id.
  public init(
    issuer: String, audience: String, publicKeysPEM: [String: String] = [:], jwksURL: URL? = nil,
    seesStatistics: Bool = false
  ) {
    self.issuer = issuer
    self.audience = audience
    self.publicKeysPEM = publicKeysPEM
    self.jwksURL = jwksURL
    self.seesStatistics = seesStatistics
  }
}

extension HealthAuthority {
  /// Validates the values of a configuration or a command.
  func checked() throws(KeyServerError) {
    guard !issuer.isEmpty, !audience.isEmpty else {
      throw .configuration("An authority needs an issuer and an audience.")
    }
    for name in [issuer, audience] + publicKeysPEM.keys where !RegistryName.isValid(name) {
      guard !name.isEmpty else { continue }
      throw .configuration(
        "An issuer, an audience and a key id must have 1 to \(RegistryName.charactersMax) visible"
          + " characters in one line, without spaces around them.")
    }
    for (id, pem) in publicKeysPEM {
      do {
        _ = try P256.Signing.PublicKey(pemRepresentation: pem)
      } catch {
        throw .configuration("The key \(id) of \(issuer) must be a P-256 public key in PEM.")
      }
      guard !id.isEmpty else {
        throw .configuration("The key \(id) of \(issuer) must be a P-256 public key in PEM.")
      }
    }
    if let jwksURL, !jwksURL.isEncryptedOrLocal || !jwksURL.isOfServer {
      throw .configuration(
        "The address of \(issuer)'s keys must begin with https (http only on this machine), and have a host, no user,"
          + " and a port of 1 to 65535 if any.")
    }
  }
}

/// A change of an authority, or a new authority: values that are nil stay as they are.
public struct HealthAuthorityChange: Hashable, Sendable {
  /// The `iss` of its certificates, which identifies it.
  public var issuer: String
  /// The `aud` of its certificates. A new authority needs one.
  public var audience: String?
  /// Public keys in PEM to add, by key id. The others stay.
  public var addedKeysPEM: [String: String] = [:]
  /// The address of its JSON Web Key Set.
  public var jwksURL: URL?
  /// If true, its JSON Web Key Set is not read any more.
  public var removesJWKSURL = false
  /// True if it may read the statistics of its own uploads.
  public var seesStatistics: Bool?
  /// If true, the change is refused if it replaced a key or the audience of a known authority.
  package var replacesNothing = false

  /// A change that changes nothing yet.
  public init(issuer: String) {
    self.issuer = issuer
  }
}

extension HealthAuthorityChange {
  /// The authority after the change of `stored`, with only the added keys.
  ///
  /// - Throws: `KeyServerError.configuration` if a value is missing or invalid.
  func applied(to stored: HealthAuthority?) throws(KeyServerError) -> HealthAuthority {
    guard let audience = audience ?? stored?.audience else {
      throw .configuration("The authority \(issuer) is new: it needs an audience.")
    }
    let authority = HealthAuthority(
      issuer: issuer, audience: audience, publicKeysPEM: addedKeysPEM,
      jwksURL: removesJWKSURL ? nil : jwksURL ?? stored?.jwksURL,
      seesStatistics: seesStatistics ?? stored?.seesStatistics ?? false)
    guard stored != nil || !addedKeysPEM.isEmpty || authority.jwksURL != nil else {
      throw .configuration(
        "The authority \(issuer) is new: it needs a key, or the address of its key set.")
    }
    try authority.checked()
    return authority
  }

  /// The same change, with keys in the one PEM form that equal keys share.
  var normalized: Self {
    var change = self
    change.addedKeysPEM = addedKeysPEM.mapValues { pem in
      // Text that is no key is refused later, with the id of the key.
      (try? P256.Signing.PublicKey(pemRepresentation: pem).pemRepresentation) ?? pem
    }
    return change
  }
}
