import Crypto
import Foundation
import KeyServerAPI

/// Tells whether two requests are the same upload: the same keys for the same places by the same app.
///
/// Padding, token, and device check stay out of it, as a repeated request may carry fresh ones.
enum UploadDigest {
  /// SHA-256 over the parts that count, each with its length before it.
  static func of(_ request: UploadRequest) -> Data {
    let payload = request.data
    let keys = payload.temporaryExposureKeys
      .map { key in
        let risk = key.transmissionRisk ?? 0
        return "\(key.key).\(key.rollingStartNumber).\(key.rollingPeriod).\(risk)"
      }
      .sorted()
    let travels = request.isInteroperabilityEnabled ?? false
    let parts =
      ["upload 1", payload.appPackageName, payload.platform, "\(travels)", "\(keys.count)"] + keys
      + payload.regions.map { $0.uppercased() }.sorted()
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Data(SHA256.hash(data: Data(text.utf8)))
  }
}
