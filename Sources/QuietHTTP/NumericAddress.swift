import Foundation
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
