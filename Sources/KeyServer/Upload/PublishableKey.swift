import ExposureKeys
import Foundation

/// A key with what the authority knows of it, and when it may be published.
struct PublishableKey: Hashable, Sendable {
  /// The key.
  let key: DiagnosisKey
  /// Where it counts, sorted.
  let regions: [String]
  /// Whether the person agreed to its going to other countries.
  let travels: Bool
  /// Not before then: `Embargo`.
  let releasedAt: Date
}
