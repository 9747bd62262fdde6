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

extension PublishableKey {
  /// The key with its release not before `moment`: no key enters a period that is closed.
  func released(from moment: Date) -> PublishableKey {
    guard releasedAt < moment else { return self }
    return PublishableKey(key: key, regions: regions, travels: travels, releasedAt: moment)
  }

  /// The 16 bytes.
  var bytes: [UInt8] { key.key.secretBytes }

  /// What a revision token says of it.
  var revisable: RevisableKey { RevisableKey(key.key) }
}
