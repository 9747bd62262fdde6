// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings
import World

extension Date {
  var wholeSecond: Date { Date(unixSecond: unixSecond) }
}

/// A received token that has not been verified.
public struct UnverifiedUploadToken: Sendable, Redacted {
  let text: String

  /// Wraps `text` without parsing it.
  public init(_ text: String) {
    self.text = text
  }
}

/// A token with a valid signature, issuer, audience and time. Only `UploadTokenVerifier` creates one.
public struct VerifiedUploadToken: Sendable, Redacted {
  /// The content. The key server still checks that the token has not been used.
  public let grant: UploadGrant

  init(_ grant: UploadGrant) {
    self.grant = grant
  }
}

/// Verifies upload tokens for the key server.
///
/// It accepts ES256 only, selects the key by `kid` and checks every claim after the signature.
public struct UploadTokenVerifier: Sendable {
  private let issuer: String
  private let audience: String
  private let keys: [String: P256.Signing.PublicKey]

  /// Trusts the keys of `publicKeysPEM` (P-256, SubjectPublicKeyInfo) by key ID.
  ///
  /// - Throws: if one of them is not such a key.
  public init(issuer: String, audience: String, publicKeysPEM: [String: String]) throws {
    self.issuer = issuer
    self.audience = audience
    keys = try publicKeysPEM.mapValues { try P256.Signing.PublicKey(pemRepresentation: $0) }
  }

  /// Returns the token if all checks succeed at `now`.
  ///
  /// - Parameters:
  ///   - token: The token as it was received.
  ///   - now: The time of the server.
  ///   - seconds: The time for which a token is still verified after its expiry, in seconds.
  /// - Throws: `UploadTokenRefusal`. The key server returns the same 401 for all of them.
  public func verified(
    _ token: UnverifiedUploadToken, at now: Date, upToExpiryPlus seconds: TimeInterval = 0
  ) async throws(UploadTokenRefusal) -> VerifiedUploadToken {
    let signed = try CompactToken(token.text)
    guard signed.isES256 else { throw .wrongSignature }
    guard let key = keys[signed.keyID] else { throw .unknownKey }
    let claims = try signed.claims(UploadTokenClaims.self, signedBy: key)
    guard claims.iss == issuer else { throw .wrongIssuer }
    let isCanary = claims.aud == .canary(of: audience)
    guard isCanary || claims.aud == Audience(audience) else { throw .wrongAudience }
    guard let grant = claims.grant(isCanary: isCanary) else { throw .malformed }
    guard now.timeIntervalSince1970 >= TimeInterval(claims.nbf) else { throw .notYetValid }
    guard now < grant.expiresAt.addingTimeInterval(seconds) else { throw .expired }
    return VerifiedUploadToken(grant)
  }
}

/// Limits of upload tokens and certificates.
public enum UploadTokenLimit {
  /// The maximum length of a token, in characters.
  public static let charactersMax = 4096
  /// The size of an HMAC over keys, in bytes.
  public static let keyHMACBytes = 32
  /// The time by which the verifier's clock may be behind the issuer's, in seconds: `nbf` of an upload token
  /// precedes `iat` by it, and certificates are accepted so much earlier. `exp` has no tolerance.
  public static let clockSkewSeconds: TimeInterval = 60
  /// The largest Unix time that a claim may contain: the last second of the year 9999.
  package static let unixSecondsMax: Int64 = 253_402_300_799
}

/// The claims of an upload token as encoded.
struct UploadTokenClaims: Codable {
  var iss: String
  var aud: Audience
  var iat: Int64
  var nbf: Int64
  var exp: Int64
  var jti: String
  var reportType: String
  var symptomOnsetInterval: UInt32?
  var tekmac: String?

  init(_ grant: UploadGrant, issuer: String, audience: String) {
    iss = issuer
    aud = grant.isCanary ? .canary(of: audience) : Audience(audience)
    iat = Self.seconds(grant.issuedAt)
    nbf = Self.seconds(grant.issuedAt.addingTimeInterval(-UploadTokenLimit.clockSkewSeconds))
    exp = Self.seconds(grant.expiresAt)
    jti = grant.tokenID
    reportType = grant.reportType
    symptomOnsetInterval = grant.symptomOnsetInterval
    tekmac = grant.keyHMAC?.base64EncodedString()
  }

  /// The content, or nil if a claim is invalid.
  func grant(isCanary: Bool) -> UploadGrant? {
    let moments = 0...UploadTokenLimit.unixSecondsMax
    guard !jti.isEmpty, moments.contains(iat), moments.contains(nbf), moments.contains(exp) else {
      return nil
    }
    let keyHMAC = tekmac.map { Data(base64Encoded: $0) ?? Data() }
    guard keyHMAC == nil || keyHMAC?.count == UploadTokenLimit.keyHMACBytes else { return nil }
    return UploadGrant(
      tokenID: jti, issuedAt: Date(unixSecond: iat),
      expiresAt: Date(unixSecond: exp), reportType: reportType,
      symptomOnsetInterval: symptomOnsetInterval, keyHMAC: keyHMAC, isCanary: isCanary)
  }

  /// The Unix time of `date` in whole seconds, limited to the range of claims.
  static func seconds(_ date: Date) -> Int64 {
    max(0, min(date.unixSecond, UploadTokenLimit.unixSecondsMax))
  }
}

/// The claim `aud`: one name, or a list of names (RFC 7519 4.1.3). We always write one name.
struct Audience: Codable, Hashable {
  var names: [String]

  init(_ name: String) {
    names = [name]
  }

  /// The audience of tokens for synthetic phones. A key server that does not know it refuses them.
  static func canary(of audience: String) -> Self { Audience(audience + "/canary") }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let name = container.decodeIfMatching(String.self) {
      names = [name]
    } else {
      names = try container.decode([String].self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let name = names.first, names.count == 1 {
      try container.encode(name)
    } else {
      try container.encode(names)
    }
  }
}
