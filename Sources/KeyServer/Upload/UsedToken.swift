import Crypto
import Foundation
import KeyServerAPI
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

/// Tells whether two requests are the same upload: the same keys for the same places by the same app.
///
/// Padding, token, and device check stay out of it, as a repeated request may carry fresh ones.
struct UploadDigest {
  private var text: [UInt8] = []

  /// SHA-256 over the parts that count of an upload in the seed's form.
  static func of(_ request: UploadRequest) -> Data {
    let payload = request.data
    var digest = UploadDigest()
    digest.add("upload 1")
    digest.add(payload.appPackageName)
    digest.add(payload.platform)
    digest.add("\(request.isInteroperabilityEnabled ?? false)")
    digest.add("\(payload.temporaryExposureKeys.count)")
    digest.add(payload.temporaryExposureKeys.map(SentKey.init))
    for region in payload.regions.map({ $0.uppercased() }).sorted() { digest.add(region) }
    return digest.bytes
  }

  /// SHA-256 over the parts that count of an upload in Google's form.
  static func of(_ request: PublishRequest, keys: [SentKey]) -> Data {
    var digest = UploadDigest()
    digest.add("publish 1")
    digest.add(request.healthAuthorityID)
    digest.add("\(request.traveler ?? false)")
    digest.add("\(request.symptomOnsetInterval ?? 0)")
    digest.add(request.revisionToken ?? "")
    digest.add(keys)
    return digest.bytes
  }

  private var bytes: Data { Data(SHA256.hash(data: text)) }

  /// Each key in a line of its own, in an order that does not depend on the sender's.
  private mutating func add(_ keys: [SentKey]) {
    text.reserveCapacity(text.count + keys.count * Self.bytesOfOneKey)
    // All lines in one piece of memory: an array for each of them took longer than the hash.
    var lines: [UInt8] = []
    lines.reserveCapacity(keys.count * Self.bytesOfOneKey)
    var places = keys.map { key in
      let start = lines.count
      key.append(to: &lines, risk: key.risk ?? 0)
      return start..<lines.count
    }
    lines.withUnsafeBufferPointer { lines in
      places.sort { lines[$0].lexicographicallyPrecedes(lines[$1]) }
      for place in places { add(lines[place]) }
    }
  }

  private mutating func add(_ part: String) {
    add(part.utf8)
  }

  /// Each part with its length before it, so that no two lists give one text.
  private mutating func add(_ part: some Collection<UInt8>) {
    text.append(contentsOf: String(part.count).utf8)
    text.append(UInt8(ascii: ":"))
    text.append(contentsOf: part)
  }

  /// About as many bytes as one key takes in the text.
  private static let bytesOfOneKey = 48
}
