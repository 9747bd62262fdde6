// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import StrictJSON
import TextEncodings
import World

/// The content of a verification certificate: a test result and the HMAC of the keys that may be
/// published for it.
///
/// It contains no code and nothing about the user.
public struct VerificationCertificate: Sendable, Hashable {
  /// Claim `jti`: a unique ID. Certificates of Google's verification server have none.
  public var certificateID: String?
  /// Claims `iat` and `nbf`: the first second at which the certificate is valid. A verifier accepts it
  /// `UploadTokenLimit.clockSkewSeconds` earlier, because clocks differ.
  public var issuedAt: Date
  /// Claim `exp`: the first second at which the certificate is no longer valid.
  public var expiresAt: Date
  /// Claim `reportType`: `confirmed`, `likely`, `negative` or `user-report`.
  public var reportType: String
  /// Claim `symptomOnsetInterval`: the ten-minute interval in which symptoms began, if known.
  public var symptomOnsetInterval: UInt32?
  /// Claim `tekmac`: HMAC-SHA256 over the keys to be published, 32 bytes.
  public var keyHMAC: Data

  /// Creates the content of a certificate. Dates are rounded down to whole seconds.
  public init(
    certificateID: String?, issuedAt: Date, expiresAt: Date, reportType: String,
    symptomOnsetInterval: UInt32?, keyHMAC: Data
  ) {
    self.certificateID = certificateID
    self.issuedAt = issuedAt.wholeSecond
    self.expiresAt = expiresAt.wholeSecond
    self.reportType = reportType
    self.symptomOnsetInterval = symptomOnsetInterval
    self.keyHMAC = keyHMAC
  }
}

extension VerificationCertificate: Redacted {
  public var description: String { "VerificationCertificate(\(reportType))" }
}

/// A received certificate that has not been verified.
public struct UnverifiedCertificate: Sendable, Redacted {
  let text: String

  /// Wraps `text` without parsing it.
  public init(_ text: String) {
    self.text = text
  }
}

/// A certificate with a valid signature, issuer, audience and time. Only `CertificateVerifier` creates one.
public struct VerifiedCertificate: Sendable {
  /// The issuer. The key server still checks that the app may use this issuer.
  public let issuer: String
  /// The content. The key server still checks that `keyHMAC` matches the uploaded keys.
  public let certificate: VerificationCertificate

  init(issuer: String, _ certificate: VerificationCertificate) {
    self.issuer = issuer
    self.certificate = certificate
  }
}

extension VerifiedCertificate: Redacted {
  public var description: String { "VerifiedCertificate(\(certificate.reportType))" }
}

/// Signs verification certificates with ES256.
public struct CertificateIssuer: Sendable {
  private let keys: SigningKeys
  private let issuer: String
  private let audience: String

  /// An issuer with the name `issuer` (`iss`) for the key server `audience` (`aud`).
  public init(keys: SigningKeys, issuer: String, audience: String) {
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
  }

  /// The text of `certificate`, signed with the key that is active at `now`.
  ///
  /// - Throws: `SigningKeysError.noKeyNow`, or the error of the encoder or of the signature.
  public func text(of certificate: VerificationCertificate, at now: Date) throws -> String {
    try CompactToken.text(
      CertificateClaims(certificate, issuer: issuer, audience: audience),
      signedBy: keys.signing(at: now))
  }
}

/// A trusted health authority with its public keys.
public struct CertificateAuthority: Sendable {
  /// Claim `iss` of its certificates.
  public let issuer: String
  /// Claim `aud` of its certificates: the authority's name for this key server.
  public let audience: String
  private let keys: [Key]

  /// An authority without a key. All its certificates are rejected until a key is added.
  public init(issuer: String, audience: String) {
    self.issuer = issuer
    self.audience = audience
    keys = []
  }

  private init(_ authority: Self, keys: [Key]) {
    issuer = authority.issuer
    audience = authority.audience
    self.keys = keys
  }

  /// Returns the authority with one more key: `publicKeyPEM` (P-256, SubjectPublicKeyInfo) with the ID
  /// `keyID`, valid from `from` until just before `until`.
  ///
  /// - Throws: if the text is not such a key.
  public func adding(
    keyID: String, publicKeyPEM: String, from: Date = .distantPast, until: Date = .distantFuture
  ) throws -> Self {
    let key = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
    return Self(self, keys: keys + [Key(keyID: keyID, key: key, from: from, until: until)])
  }

  func key(_ keyID: String, at now: Date) -> P256.Signing.PublicKey? {
    keys.last { $0.keyID == keyID && $0.from <= now && now < $0.until }?.key
  }

  private struct Key: Sendable {
    var keyID: String
    var key: P256.Signing.PublicKey
    var from: Date
    var until: Date
  }
}

/// Verifies certificates for the key server.
///
/// It accepts ES256 only, takes the authority from `iss` and that authority's key from `kid`, and
/// checks every claim.
public struct CertificateVerifier: Sendable {
  private let authorities: [String: CertificateAuthority]

  /// Trusts `authorities`. If two have the same issuer, the last one is used.
  public init(authorities: [CertificateAuthority]) {
    self.authorities = Dictionary(authorities.map { ($0.issuer, $0) }) { _, last in last }
  }

  /// Returns the certificate if all checks succeed at `now`.
  ///
  /// - Throws: `UploadTokenRefusal`. The key server returns the same 401 for all of them.
  public func verified(
    _ certificate: UnverifiedCertificate, at now: Date
  ) throws(UploadTokenRefusal) -> VerifiedCertificate {
    let signed = try CompactToken(certificate.text)
    guard signed.isES256 else { throw .wrongSignature }
    // Decoded once. Until the signature is verified, the claims only select the key.
    guard let claims = signed.certificateHint else { throw .malformed }
    guard let authority = authorities[claims.iss] else { throw .wrongIssuer }
    guard let key = authority.key(signed.keyID, at: now) else { throw .unknownKey }
    try signed.checkSignature(by: key)
    guard claims.aud.names == [authority.audience] else { throw .wrongAudience }
    guard let content = claims.certificate else { throw .malformed }
    // The issuer's clock may be ahead of ours, as for upload tokens.
    guard now >= content.issuedAt.addingTimeInterval(-UploadTokenLimit.clockSkewSeconds) else {
      throw .notYetValid
    }
    guard now < content.expiresAt else { throw .expired }
    return VerifiedCertificate(issuer: authority.issuer, content)
  }
}

/// The claims of a certificate as encoded.
struct CertificateClaims: Codable, Hashable {
  var iss: String
  var aud: Audience
  var iat: Int64?
  var nbf: Int64?
  var exp: Int64
  var jti: String?
  var reportType: String
  var symptomOnsetInterval: UInt32?
  var tekmac: String
}

extension CertificateClaims {
  init(_ certificate: VerificationCertificate, issuer: String, audience: String) {
    iss = issuer
    aud = Audience(audience)
    iat = UploadTokenClaims.seconds(certificate.issuedAt)
    nbf = iat
    exp = UploadTokenClaims.seconds(certificate.expiresAt)
    jti = certificate.certificateID
    reportType = certificate.reportType
    symptomOnsetInterval = certificate.symptomOnsetInterval
    tekmac = certificate.keyHMAC.base64EncodedString()
  }

  /// The content, or nil if a claim is invalid. The HMAC may be base64 in either alphabet, padded or
  /// not, as in Google's key server.
  var certificate: VerificationCertificate? {
    let moments = 0...UploadTokenLimit.unixSecondsMax
    let issued = max(iat ?? 0, nbf ?? 0)
    guard [iat ?? 0, nbf ?? 0, exp].allSatisfy(moments.contains), jti != "",
      let keyHMAC = Base64.bytes(tekmac), keyHMAC.count == UploadTokenLimit.keyHMACBytes
    else { return nil }
    return VerificationCertificate(
      certificateID: jti, issuedAt: Date(unixSecond: issued),
      expiresAt: Date(unixSecond: exp), reportType: reportType,
      symptomOnsetInterval: symptomOnsetInterval, keyHMAC: Data(keyHMAC))
  }
}

/// A fast path for the claims of certificates.
///
/// Decoding them with `JSONDecoder` takes a quarter of the time of the signature check. The cursor
/// reads the usual form; for everything else the caller falls back to `JSONDecoder`. Both return the
/// same claims, so the fast path never rejects a certificate.
extension CertificateClaims {
  private static let names: [StaticString] = [
    "iss", "aud", "jti", "reportType", "tekmac", "iat", "nbf", "exp", "symptomOnsetInterval",
  ]

  /// The claims in `payload`, or nil if it has an unknown or repeated claim or another form.
  static func fastRead(_ payload: [UInt8]) -> CertificateClaims? {
    var texts = [String?](repeating: nil, count: 5)
    var numbers = [Int64?](repeating: nil, count: 4)
    var cursor = JSONCursor(payload)
    do throws(StrictJSONError) {
      try cursor.object(names) { (field, cursor) throws(StrictJSONError) in
        if field < texts.count {
          texts[field] = try cursor.string()
        } else {
          numbers[field - texts.count] = try cursor.integer()
        }
      }
      try cursor.end()
    } catch {
      return nil
    }
    guard let iss = texts[0], let aud = texts[1], let reportType = texts[3], let tekmac = texts[4],
      let exp = numbers[2]
    else { return nil }
    let onset = numbers[3].flatMap { UInt32(exactly: $0) }
    guard (onset == nil) == (numbers[3] == nil) else { return nil }
    return CertificateClaims(
      iss: iss, aud: Audience(aud), iat: numbers[0], nbf: numbers[1], exp: exp, jti: texts[2],
      reportType: reportType, symptomOnsetInterval: onset, tekmac: tekmac)
  }
}
