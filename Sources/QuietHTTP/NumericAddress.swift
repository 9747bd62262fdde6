// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Secrets
import TextEncodings

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

  /// The name of the network of 24 bits of IPv4 or 48 bits of IPv6 that contains `address`.
  static func networkName(of address: NumericAddress) -> String {
    let bytes = address.bytes
    if bytes.count == 4 { return "\(bytes[0]).\(bytes[1]).\(bytes[2]).0/24" }
    let words = stride(from: 0, to: 6, by: 2).map { index in
      let word = bytes[index..<(index + 2)].hexadecimal.drop { $0 == "0" }
      return word.isEmpty ? "0" : String(word)
    }
    return words.joined(separator: ":") + "::/48"
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
