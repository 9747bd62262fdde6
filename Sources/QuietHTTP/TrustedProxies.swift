// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird

/// The reverse proxies whose `X-Forwarded-For` header is trusted.
///
/// Each proxy appends the address of its client. A client can put anything before that, so the list is
/// read from its end, and only as far as trusted proxies wrote it.
public struct TrustedProxies: Sendable {
  private let networks: [AddressNetwork]

  /// No trusted proxy: the address of the connection counts.
  public static let none = TrustedProxies(networks: [])

  private init(networks: [AddressNetwork]) {
    self.networks = networks
  }

  /// Trusts `networks`, each an address or a network such as `10.0.0.0/8` or `fd00::/8`.
  ///
  /// Returns nil if one of them is invalid or wider than `QuietLimit.proxyPrefixBitsMin` allows: every
  /// host in it could choose the address that its attempts are counted by.
  public init?(_ networks: [String]) {
    let parsed = networks.compactMap {
      AddressNetwork($0, bitsMin: QuietLimit.proxyPrefixBitsMin)
    }
    guard parsed.count == networks.count else { return nil }
    self.init(networks: parsed)
  }

  /// The client behind the connection of `peer`, or the last trusted proxy if the header is invalid.
  func client(of peer: NumericAddress?, headers: HTTPFields) -> NumericAddress? {
    guard var client = peer, isTrusted(client) else { return peer }
    let entries = headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
    for entry in entries.reversed() {
      guard isTrusted(client), let next = Self.address(entry) else { break }
      client = next
    }
    return client
  }

  func isTrusted(_ address: NumericAddress) -> Bool {
    networks.contains { $0.contains(address) }
  }

  /// The address of an entry, which may have a port.
  private static func address(_ entry: Substring) -> NumericAddress? {
    let text = entry.filter { !$0.isWhitespace }
    if text.hasPrefix("[") {
      return NumericAddress(text.dropFirst().prefix { $0 != "]" })
    }
    return NumericAddress(text) ?? NumericAddress(text.prefix { $0 != ":" })
  }
}
