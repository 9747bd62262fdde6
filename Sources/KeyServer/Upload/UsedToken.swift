import Crypto
import Foundation
import UploadToken

/// Remembers that a token or a certificate is used, without its name: that could be joined with what the
/// verification server knows.
///
/// Named by issuer and `jti`, and by nothing else: a certificate that is issued anew since an answer was lost has
/// the same name and a later end, and what both contracts take is spent in both.
struct UsedToken: Sendable {
  /// SHA-256 of what names it.
  let digest: Data
  /// What an upload token was named by before it shared its name with certificates; nil for them. A database
  /// may hold such names for as long as a used token is kept.
  let formerDigest: Data?
  /// As long as one of its name may be good, and a day longer, for a clock may be set back. To the whole
  /// hour, since the moment itself would tell the second in which a person typed in the code.
  let keptUntil: Date

  /// An upload token of `issuer` that is used at `now`.
  init(_ grant: UploadGrant, issuer: String, at now: Date) {
    digest = Self.digest(of: Self.name(issuer, grant.tokenID))
    formerDigest = Data(SHA256.hash(data: Data(grant.tokenID.utf8)))
    keptUntil = Self.end(grant.expiresAt, usedAt: now)
  }

  /// A certificate that is used at `now`. One without a `jti` is named by what was signed: the signature
  /// itself could be written in a second way and would still hold.
  init(_ verified: VerifiedCertificate, text: String, at now: Date) {
    let certificate = verified.certificate
    let name = certificate.certificateID.map { Self.name(verified.issuer, $0) }
    digest = Self.digest(of: name ?? ["certificate 1", "signed", Self.signed(text)])
    formerDigest = nil
    keptUntil = Self.end(certificate.expiresAt, usedAt: now)
  }

  private static func name(_ issuer: String, _ id: String) -> [String] {
    ["certificate 1", "jti", issuer, id]
  }

  /// What stands before the signature.
  private static func signed(_ text: String) -> String {
    let end = text.utf8.lastIndex(of: UInt8(ascii: ".")) ?? text.endIndex
    return String(decoding: text.utf8[..<end], as: UTF8.self)
  }

  /// Each part with its length before it, so that no two lists of parts give one text.
  private static func digest(of parts: [String]) -> Data {
    var text: [UInt8] = []
    text.reserveCapacity(parts.reduce(0) { $0 + 4 + $1.utf8.count })
    for part in parts {
      text.append(contentsOf: String(part.utf8.count).utf8)
      text.append(UInt8(ascii: ":"))
      text.append(contentsOf: part.utf8)
    }
    return Data(SHA256.hash(data: text))
  }

  private static func end(_ expiresAt: Date, usedAt now: Date) -> Date {
    let last = max(expiresAt, now.addingTimeInterval(KeyServerLimit.reissueSecondsMax))
    let end = last.timeIntervalSince1970 + KeyServerLimit.clockSetBackSecondsMax
    let hours = (end / Embargo.coarseSeconds).rounded(.up)
    return Date(timeIntervalSince1970: hours * Embargo.coarseSeconds)
  }
}
