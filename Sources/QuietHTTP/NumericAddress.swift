import Foundation
import NIOCore

/// An IP address: four bytes, or sixteen.
struct NumericAddress: Hashable, Sendable {
  let bytes: [UInt8]

  /// Nil where `text` is no numeric address. IPv4 written as IPv6 (RFC 4291, 2.5.5.2) is IPv4.
  init?(_ text: some StringProtocol) {
    if let four = Self.bytes(of: text, family: AF_INET, count: 4) {
      bytes = four
    } else if let sixteen = Self.bytes(of: text, family: AF_INET6, count: 16) {
      bytes = Self.withoutMapping(sixteen)
    } else {
      return nil
    }
  }

  /// The address of a socket's peer, without writing and reading it as a text; nil where it has none.
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

  private static let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  private static func bytes(of text: some StringProtocol, family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    // A link-local address carries its interface behind a percent sign.
    let address = text.prefix { $0 != "%" }
    return inet_pton(family, String(address), &bytes) == 1 ? bytes : nil
  }
}

extension NumericAddress: CustomStringConvertible, CustomReflectable {
  var description: String { "NumericAddress" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
