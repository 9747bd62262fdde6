import Foundation

/// The token's claims as they stand on the wire.
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

  /// The claims that say `grant`.
  init(_ grant: UploadGrant, issuer: String, audience: String) {
    iss = issuer
    aud = Audience(audience)
    iat = Self.seconds(grant.issuedAt)
    nbf = Self.seconds(grant.issuedAt.addingTimeInterval(-UploadTokenLimit.clockSkewSeconds))
    exp = Self.seconds(grant.expiresAt)
    jti = grant.tokenID
    reportType = grant.reportType
    symptomOnsetInterval = grant.symptomOnsetInterval
    tekmac = grant.keyHMAC?.base64EncodedString()
  }

  /// What the claims grant; nil where they are not whole.
  var grant: UploadGrant? {
    let moments = 0...UploadTokenLimit.unixSecondsMax
    guard !jti.isEmpty, moments.contains(iat), moments.contains(nbf), moments.contains(exp) else {
      return nil
    }
    let keyHMAC = tekmac.map { Data(base64Encoded: $0) ?? Data() }
    guard keyHMAC == nil || keyHMAC?.count == UploadTokenLimit.keyHMACBytes else { return nil }
    return UploadGrant(
      tokenID: jti, issuedAt: Date(timeIntervalSince1970: TimeInterval(iat)),
      expiresAt: Date(timeIntervalSince1970: TimeInterval(exp)), reportType: reportType,
      symptomOnsetInterval: symptomOnsetInterval, keyHMAC: keyHMAC)
  }

  /// The whole second of `date`, within what a claim may name.
  static func seconds(_ date: Date) -> Int64 {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    return Int64(max(0, min(seconds, TimeInterval(UploadTokenLimit.unixSecondsMax))))
  }
}
