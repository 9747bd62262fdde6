/// Reads a certificate's claims where they are written as nearly all are: one object of claims that are known,
/// each once and none null, as `PlainCursor` takes it.
///
/// `JSONDecoder` takes a quarter as long for them as the check of the signature. Whatever is written otherwise is left
/// to it: what is read here is what it reads, and nothing is refused here.
struct PlainClaims {
  private var iss, aud, jti, reportType, tekmac: String?
  private var iat, nbf, exp, symptomOnsetInterval: Int64?

  /// The claims that `payload` says; nil where it says them in another way, or none.
  static func read(_ payload: [UInt8]) -> CertificateClaims? {
    payload.withUnsafeBufferPointer { bytes in
      var (claims, cursor) = (PlainClaims(), PlainCursor(bytes))
      return claims.isFilled(by: &cursor) ? claims.certificate : nil
    }
  }

  private mutating func isFilled(by cursor: inout PlainCursor) -> Bool {
    guard cursor.take("{") else { return false }
    repeat {
      guard let name = cursor.text(), cursor.take(":"), takes(name, from: &cursor) else {
        return false
      }
    } while cursor.take(",")
    return cursor.take("}") && cursor.isAtEnd
  }

  private mutating func takes(_ name: String, from cursor: inout PlainCursor) -> Bool {
    switch name {
    case "iss": Self.fills(&iss, cursor.text())
    case "aud": Self.fills(&aud, cursor.text())
    case "jti": Self.fills(&jti, cursor.text())
    case "reportType": Self.fills(&reportType, cursor.text())
    case "tekmac": Self.fills(&tekmac, cursor.text())
    case "iat": Self.fills(&iat, cursor.number())
    case "nbf": Self.fills(&nbf, cursor.number())
    case "exp": Self.fills(&exp, cursor.number())
    case "symptomOnsetInterval": Self.fills(&symptomOnsetInterval, cursor.number())
    default: false
    }
  }

  private static func fills<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
    guard place == nil, let value else { return false }
    place = value
    return true
  }

  private var certificate: CertificateClaims? {
    guard let iss, let aud, let exp, let reportType, let tekmac else { return nil }
    let onset = symptomOnsetInterval.flatMap { UInt32(exactly: $0) }
    guard (onset == nil) == (symptomOnsetInterval == nil) else { return nil }
    return CertificateClaims(
      iss: iss, aud: Audience(aud), iat: iat, nbf: nbf, exp: exp, jti: jti,
      reportType: reportType, symptomOnsetInterval: onset, tekmac: tekmac)
  }
}
