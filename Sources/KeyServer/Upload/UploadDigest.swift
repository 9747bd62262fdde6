import Crypto
import Foundation
import KeyServerAPI

/// Tells whether two requests are the same upload: the same keys for the same places by the same app.
///
/// Padding, token, and device check stay out of it, as a repeated request may carry fresh ones.
enum UploadDigest {
  /// SHA-256 over the parts that count of an upload in the seed's form.
  static func of(_ request: UploadRequest) -> Data {
    let payload = request.data
    let keys = lines(payload.temporaryExposureKeys.map(SentKey.init))
    let travels = request.isInteroperabilityEnabled ?? false
    return digest(
      ["upload 1", payload.appPackageName, payload.platform, "\(travels)", "\(keys.count)"] + keys
        + payload.regions.map { $0.uppercased() }.sorted())
  }

  /// SHA-256 over the parts that count of an upload in Google's form.
  static func of(_ request: PublishRequest, keys: [SentKey]) -> Data {
    digest(
      [
        "publish 1", request.healthAuthorityID, "\(request.traveler ?? false)",
        "\(request.symptomOnsetInterval ?? 0)", request.revisionToken ?? "",
      ] + lines(keys))
  }

  private static func lines(_ keys: [SentKey]) -> [String] {
    keys.map { "\($0.text).\($0.start).\($0.period).\($0.risk ?? 0)" }.sorted()
  }

  /// Over each part with its length before it, so that no two lists give one text.
  private static func digest(_ parts: [String]) -> Data {
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Data(SHA256.hash(data: Data(text.utf8)))
  }
}
