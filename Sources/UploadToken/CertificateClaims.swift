import Foundation

/// The certificate's claims as they stand on the wire.
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
  /// The claims that say `certificate`.
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

  /// What the claims certify; nil where they are not whole. The HMAC may come in either alphabet of
  /// base64, padded or not, as Google's key server takes it.
  var certificate: VerificationCertificate? {
    let moments = 0...UploadTokenLimit.unixSecondsMax
    let issued = max(iat ?? 0, nbf ?? 0)
    guard [iat ?? 0, nbf ?? 0, exp].allSatisfy(moments.contains), jti != "",
      let keyHMAC = Self.bytes(tekmac), keyHMAC.count == UploadTokenLimit.keyHMACBytes
    else { return nil }
    return VerificationCertificate(
      certificateID: jti, issuedAt: Date(timeIntervalSince1970: TimeInterval(issued)),
      expiresAt: Date(timeIntervalSince1970: TimeInterval(exp)), reportType: reportType,
      symptomOnsetInterval: symptomOnsetInterval, keyHMAC: keyHMAC)
  }

  private static func bytes(_ text: String) -> Data? {
    var text = text
    return text.withUTF8 { text in
      let digits = text.lastIndex { $0 != UInt8(ascii: "=") }.map { text[...$0] } ?? text[..<0]
      return Base64Digits.ofEither.bytes(UnsafeBufferPointer(rebasing: digits)).map { Data($0) }
    }
  }
}
