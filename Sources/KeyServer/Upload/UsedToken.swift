// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import UploadToken

/// A keyed hash of the ID of a used token or certificate. The verification server knows the ID, but cannot compute the
/// hash without the key, so the databases of both servers cannot be joined.
///
/// The hash depends on the issuer and `jti` only. A certificate that is issued again after a lost response has the
/// same `jti` and a later expiry. A token that both contracts accept is used up in both.
struct UsedToken: Sendable {
  /// HMAC-SHA-256 of the issuer and `jti`.
  let digest: Data
  /// The end of the retention: when no token with this ID is valid any more, plus a day in case the clock is set
  /// back, rounded up to the hour. The exact time would reveal when a user typed a code.
  let keptUntil: Date

  /// An upload token of `issuer` that is used at `now`.
  init(_ grant: UploadGrant, issuer: String, at now: Date, keys: DatabaseKeys) {
    digest = PartsDigest.of(Self.name(issuer, grant.tokenID), under: keys.tokens)
    keptUntil = Self.end(grant.expiresAt, usedAt: now)
  }

  /// A certificate that is used at `now`.
  ///
  /// Without a `jti` it is identified by the text that was signed: the signature has other valid encodings.
  init(_ verified: VerifiedCertificate, text: String, at now: Date, keys: DatabaseKeys) {
    let certificate = verified.certificate
    let name = certificate.certificateID.map { Self.name(verified.issuer, $0) }
    digest = PartsDigest.of(
      name ?? ["certificate 1", "signed", Self.signed(text)], under: keys.tokens)
    keptUntil = Self.end(certificate.expiresAt, usedAt: now)
  }

  private static func name(_ issuer: String, _ id: String) -> [String] {
    ["certificate 1", "jti", issuer, id]
  }

  /// The part of a certificate before its signature.
  private static func signed(_ text: String) -> String {
    let end = text.utf8.lastIndex(of: UInt8(ascii: ".")) ?? text.endIndex
    return String(decoding: text.utf8[..<end], as: UTF8.self)
  }

  private static func end(_ expiresAt: Date, usedAt now: Date) -> Date {
    max(expiresAt, now.addingTimeInterval(KeyServerLimit.reissueSecondsMax))
      .addingTimeInterval(KeyServerLimit.clockSetBackSecondsMax).endOfHour
  }
}

/// A digest that recognizes repetitions of an upload: the same keys for the same regions by the same app.
///
/// Padding, token and device check are not included: a repeated request may have new ones. The digest is keyed, so
/// that it does not reveal which of the stored keys belong to one upload.
enum UploadDigest {
  /// HMAC-SHA-256 over an upload of the ProteGO Safe contract, whose keys are `keys`.
  static func of(
    _ request: UploadRequest, keys: [UploadedKey], under databaseKeys: DatabaseKeys
  ) -> Data {
    let payload = request.data
    var digest = PartsDigest(byteCount: keys.count * PartsDigest.keyByteCount)
    digest.append("upload 1")
    digest.append(payload.appPackageName)
    digest.append(payload.platform)
    digest.append("\(request.isInteroperabilityEnabled ?? false)")
    digest.append("\(keys.count)")
    digest.append(keys)
    for region in payload.regions.map({ $0.uppercased() }).sorted() { digest.append(region) }
    return digest.bytes(under: databaseKeys.uploads)
  }

  /// HMAC-SHA-256 over an upload of Google's contract, whose keys are `keys`.
  static func of(
    _ request: PublishRequest, keys: [UploadedKey], under databaseKeys: DatabaseKeys
  ) -> Data {
    var digest = PartsDigest(byteCount: keys.count * PartsDigest.keyByteCount)
    digest.append("publish 1")
    digest.append(request.healthAuthorityID)
    digest.append("\(request.traveler ?? false)")
    digest.append("\(request.symptomOnsetInterval ?? 0)")
    digest.append(request.revisionToken ?? "")
    digest.append(keys)
    return digest.bytes(under: databaseKeys.uploads)
  }
}

/// HMAC-SHA-256 over a list of parts, each prefixed with its length so that no two lists give the same text.
private struct PartsDigest {
  /// The approximate number of bytes that one key adds.
  static let keyByteCount = 48

  private var text: [UInt8] = []

  /// Creates an empty digest with a capacity of `byteCount` bytes.
  init(byteCount: Int) {
    text.reserveCapacity(byteCount)
  }

  static func of(_ parts: [String], under key: SymmetricKey) -> Data {
    var digest = PartsDigest(byteCount: parts.reduce(0) { $0 + 4 + $1.utf8.count })
    for part in parts { digest.append(part) }
    return digest.bytes(under: key)
  }

  func bytes(under key: SymmetricKey) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: text, using: key))
  }

  mutating func append(_ part: String) {
    append(part.utf8)
  }

  /// Appends each key as one part, sorted, so that the client's order does not matter.
  mutating func append(_ keys: [UploadedKey]) {
    // One buffer for all parts: an array for each of them takes longer than the hash.
    var lines: [UInt8] = []
    lines.reserveCapacity(keys.count * Self.keyByteCount)
    var ranges = keys.map { key in
      let start = lines.count
      key.append(to: &lines, risk: key.risk ?? 0)
      return start..<lines.count
    }
    lines.withUnsafeBufferPointer { lines in
      ranges.sort { lines[$0].lexicographicallyPrecedes(lines[$1]) }
      for range in ranges { append(lines[range]) }
    }
  }

  private mutating func append(_ part: some Collection<UInt8>) {
    text.append(contentsOf: String(part.count).utf8)
    text.append(UInt8(ascii: ":"))
    text.append(contentsOf: part)
  }
}
