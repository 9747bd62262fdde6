// SPDX-License-Identifier: Apache-2.0
import Secrets
import World

/// A random key for the hash functions of filter and table.
///
/// Attackers choose the identifiers that a device receives. If they knew the secret, they could send
/// identifiers that collide and slow down every search.
package struct ProbeSecret: Sendable, Redacted {
  package static let byteCount = 32

  let filter: (UInt64, UInt64)
  let table: (UInt64, UInt64)

  /// Creates a secret from `byteCount` random bytes; missing bytes are zero.
  package init(bytes: [UInt8]) {
    func word(_ index: Int) -> UInt64 {
      bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    filter = (word(0), word(1))
    table = (word(2), word(3))
  }
}

extension ProbeSecret {
  /// Creates a secret for one search.
  package init(from randomness: some Randomness) {
    self.init(bytes: randomness.bytes(Self.byteCount))
  }
}
