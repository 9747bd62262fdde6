// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

/// A diagnosis key that may be published, with its regions and its release time.
struct PublishableKey: Hashable, Sendable {
  let key: DiagnosisKey
  /// The regions, sorted.
  let regions: [String]
  /// True if the user agreed to share the key with other countries.
  let travels: Bool
  /// The key is not published before: see `Embargo`.
  let releasedAt: Date

  /// The key with its release not before `moment`, so that it does not belong to a closed period.
  func released(from moment: Date) -> PublishableKey {
    guard releasedAt < moment else { return self }
    return PublishableKey(key: key, regions: regions, travels: travels, releasedAt: moment)
  }

  /// The 16 bytes of the key.
  var bytes: [UInt8] { key.key.secretBytes }

  /// The part of the key that a revision token holds.
  var revisable: RevisableKey { RevisableKey(key.key) }
}
