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
  var releasedAt: Date
  /// True for padding, the keys of made-up users.
  var isPadding = false

  /// The key with its release not before `moment`, so that it does not belong to a closed period.
  func released(from moment: Date) -> PublishableKey {
    var key = self
    key.releasedAt = max(releasedAt, moment)
    return key
  }

  /// The 16 bytes of the key.
  var bytes: [UInt8] { key.key.secretBytes }

  /// The regions as they are stored: separated by commas.
  var regionsText: String {
    // Nearly every key has one region, and this runs 14 times per upload.
    regions.count == 1 ? regions[0] : regions.joined(separator: ",")
  }
}
