// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import Secrets

/// An IPv4 or IPv6 address: four or sixteen bytes.
struct NumericAddress: Hashable, Sendable, Redacted {
  let bytes: [UInt8]

  /// Parses `text`, or returns nil. An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) becomes IPv4.
  init?(_ text: some StringProtocol) {
    if let four = Self.bytes(of: text, family: AF_INET, count: 4) {
      bytes = four
    } else if let sixteen = Self.bytes(of: text, family: AF_INET6, count: 16) {
      bytes = Self.withoutMapping(sixteen)
    } else {
      return nil
    }
  }

  /// The address of a socket, without a detour over text, or nil if it has none.
  init?(_ peer: SocketAddress?) {
    switch peer {
    case .v4(let four): bytes = withUnsafeBytes(of: four.address.sin_addr) { Array($0) }
    case .v6(let six):
      bytes = Self.withoutMapping(withUnsafeBytes(of: six.address.sin6_addr) { Array($0) })
    case .unixDomainSocket, nil: return nil
    }
  }

  private static func withoutMapping(_ sixteen: [UInt8]) -> [UInt8] {
    sixteen.starts(with: mapped) ? Array(sixteen.suffix(4)) : sixteen
  }

  /// The first bytes of an IPv4 address in the form of IPv6.
  static let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  private static func bytes(of text: some StringProtocol, family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    // A link-local address has its interface after a percent sign.
    let address = text.prefix { $0 != "%" }
    return inet_pton(family, String(address), &bytes) == 1 ? bytes : nil
  }
}

/// The part of an address that a subscriber cannot choose: all of IPv4, the first 64 bits of IPv6.
struct AddressPrefix: Hashable, Sendable, Redacted {
  let bytes: [UInt8]

  init(_ address: NumericAddress) {
    bytes = address.bytes.count == 4 ? address.bytes : Array(address.bytes.prefix(8))
  }

  /// The first bytes of an address, for the networks that contain it.
  init(_ address: NumericAddress, byteCount: Int) {
    bytes = Array(address.bytes.prefix(byteCount))
  }

  init?(_ text: String) {
    guard let address = NumericAddress(text) else { return nil }
    self.init(address)
  }
}

/// An IP network: an address and the length of its prefix.
struct AddressNetwork: Sendable {
  let address: NumericAddress
  let bits: Int

  /// Parses an address or a network such as `10.0.0.0/8` or `fd00::/8`. Returns nil if `text` is
  /// invalid or its prefix is shorter than `bitsMin`.
  init?(_ text: String, bitsMin: Int = 0) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = NumericAddress(parts[0]) else { return nil }
    let all = address.bytes.count * 8
    // An IPv4-mapped IPv6 address has 96 bits before the IPv4 address (RFC 4291, 2.5.5.2).
    let others = parts[0].contains(":") ? 128 - all : 0
    // `UInt8` also accepts a sign and leading zeros. Both are rejected below as likely mistakes.
    let count = parts.count == 2 ? UInt8(parts[1]).map(Int.init) : all + others
    guard let count, parts.count == 1 || "\(count)" == parts[1],
      (bitsMin...all).contains(count - others)
    else { return nil }
    self.address = address
    bits = count - others
  }

  func contains(_ other: NumericAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> (bit % 8)
      return address.bytes[bit / 8] & mask == other.bytes[bit / 8] & mask
    }
  }
}

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
