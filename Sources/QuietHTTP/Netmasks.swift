// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The networks whose clients may use a route.
///
/// Behind a trusted proxy the address of the client is compared, with all of its bits.
public struct Netmasks: Sendable, Redacted {
  /// Nil if every address is allowed.
  private let networks: [AddressNetwork]?

  /// Allows every address.
  public static let anyAddress = Netmasks(networks: nil)

  private init(networks: [AddressNetwork]?) {
    self.networks = networks
  }

  /// Allows `networks`, each an address or a network such as `10.0.0.0/8` or `2001:db8::/32`.
  ///
  /// Returns nil if one of them is invalid, if there is none, or if there are more than
  /// `QuietLimit.netmasksMax`.
  public init?(_ networks: [String]) {
    guard (1...QuietLimit.netmasksMax).contains(networks.count) else { return nil }
    let parsed = networks.compactMap { AddressNetwork($0) }
    guard parsed.count == networks.count else { return nil }
    self.init(networks: parsed)
  }

  /// Returns `true` if the client is in one of the networks. A client without an address is in none.
  public func contain(_ context: QuietContext) -> Bool {
    contain(context.client)
  }

  func contain(_ client: NumericAddress?) -> Bool {
    guard let networks else { return true }
    guard let client else { return false }
    return networks.contains { $0.contains(client) }
  }
}
