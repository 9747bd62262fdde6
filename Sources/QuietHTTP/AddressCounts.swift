import Synchronization

/// How many connections each address has open, so that one cannot take the places of all others.
///
/// Addresses count by their prefix, as attempts do; one is kept for as long as it has a connection. Those of trusted
/// proxies do not count: everybody comes through them.
final class AddressCounts: Sendable {
  private let countMax: Int
  private let trustedProxies: TrustedProxies
  private let counts = Mutex<[AddressPrefix: Int]>([:])

  /// Lets each address have `countMax` connections, but for `trustedProxies`.
  init(countMax: Int, trustedProxies: TrustedProxies) {
    self.countMax = countMax
    self.trustedProxies = trustedProxies
  }

  /// What a connection of `peer` counts under; nil where it does not count.
  func prefix(of peer: NumericAddress?) -> AddressPrefix? {
    guard let peer, !trustedProxies.isTrusted(peer) else { return nil }
    return AddressPrefix(peer)
  }

  /// Counts one connection more; false where there is no place for it, and nothing was counted.
  func begin(_ prefix: AddressPrefix) -> Bool {
    counts.withLock { counts in
      let count = counts[prefix, default: 0]
      guard count < countMax else { return false }
      counts[prefix] = count + 1
      return true
    }
  }

  /// Counts one connection less, once it is closed.
  func end(_ prefix: AddressPrefix) {
    counts.withLock { counts in
      guard let count = counts[prefix] else { return }
      counts[prefix] = count > 1 ? count - 1 : nil
    }
  }

  /// How many addresses are kept now.
  var addressCount: Int { counts.withLock { $0.count } }
}
