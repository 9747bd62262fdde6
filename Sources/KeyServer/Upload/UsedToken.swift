import Crypto
import Foundation
import UploadToken

/// Remembers that a token or a certificate is used, without its name: that could be joined with what the
/// verification server knows.
struct UsedToken: Hashable, Sendable {
  /// SHA-256 of what names it.
  let digest: Data
  /// A day longer than it is good, for a clock may be set back. To the whole hour, since the expiry
  /// itself would tell the second in which a person typed in the code.
  let keptUntil: Date

  /// An upload token, named by its `jti`.
  init(_ grant: UploadGrant) {
    digest = Data(SHA256.hash(data: Data(grant.tokenID.utf8)))
    keptUntil = Self.end(grant.expiresAt)
  }

  /// A certificate, named by its issuer and `jti`. One without a `jti` is named by what was signed: the
  /// signature itself could be written in a second way and would still hold.
  init(_ verified: VerifiedCertificate, text: String) {
    let certificate = verified.certificate
    let name = certificate.certificateID.map { ["jti", verified.issuer, $0] }
    digest = Self.digest(of: ["certificate 1"] + (name ?? ["signed", Self.signed(text)]))
    keptUntil = Self.end(certificate.expiresAt)
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

  private static func end(_ expiresAt: Date) -> Date {
    let end = expiresAt.timeIntervalSince1970 + KeyServerLimit.clockSetBackSecondsMax
    let hours = (end / Embargo.coarseSeconds).rounded(.up)
    return Date(timeIntervalSince1970: hours * Embargo.coarseSeconds)
  }
}
