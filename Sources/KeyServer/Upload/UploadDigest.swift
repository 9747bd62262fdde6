import Crypto
import Foundation
import KeyServerAPI

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
