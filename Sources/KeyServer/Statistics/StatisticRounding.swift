import Crypto
import Foundation
import Secrets

/// Rounds counts at random, so that one upload changes what is shown with a probability of a tenth at most.
///
/// A count is rounded up or down to a multiple, up with the probability that keeps the mean. The choice follows
/// from a secret and the place of the count, so it is the same for every request and cannot be averaged out.
struct StatisticRounding: Sendable, Redacted {
  private let key: SymmetricKey

  /// - Parameter key: The key of the choices.
  init(_ key: SymmetricKey) {
    self.key = key
  }

  /// Rounds the `count` of `issuer` on the day that begins at `day`.
  func rounded(
    _ count: Int, _ kind: StatisticKind, _ bucket: Int, of issuer: String, on day: Int64
  ) -> Int {
    let multiple =
      kind == .keys ? KeyServerLimit.statisticsKeysMultiple : KeyServerLimit.statisticsMultiple
    let rest = count % multiple
    let place = Data("\(day) \(kind.rawValue) \(bucket) \(issuer)".utf8)
    let code = HMAC<SHA256>.authenticationCode(for: place, using: key)
    let choice = code.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } % UInt64(multiple)
    return count - rest + (choice < UInt64(rest) ? multiple : 0)
  }
}
