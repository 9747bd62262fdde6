// SPDX-License-Identifier: Apache-2.0
import Secrets

/// One of the phone's own keys, released for an upload.
struct ReleasedKey: Sendable, Equatable {
  /// The key's bytes.
  let bytes: ZeroingBytes
  /// The first ten-minute interval of the key.
  let rollingStartNumber: UInt32
  /// The number of its intervals.
  let rollingPeriod: UInt32
  /// The transmission risk that an upload of the key states, 1...8.
  var transmissionRisk = Self.protegoRisk

  /// The transmission risk of all keys in the ProteGO Safe contract, without tables of the health authority.
  static let protegoRisk = 8
}

extension ReleasedKey: Redacted {
  /// The start of the key; its bytes identify a user's beacons.
  var description: String { "ReleasedKey(from \(rollingStartNumber))" }
}
