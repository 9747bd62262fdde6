import Foundation

/// The part of an address that one subscriber cannot change at will: an IPv4 address whole, of an
/// IPv6 address the first 64 bits.
struct AddressPrefix: Hashable, Sendable {
  let bytes: [UInt8]

  /// Nil where `text` is no numeric address.
  init?(_ text: String) {
    if let four = Self.bytes(of: text, family: AF_INET, count: 4) {
      bytes = four
    } else if let sixteen = Self.bytes(of: text, family: AF_INET6, count: 16) {
      bytes =
        sixteen.starts(with: Self.mapped) ? Array(sixteen.suffix(4)) : Array(sixteen.prefix(8))
    } else {
      return nil
    }
  }

  /// How IPv6 writes an IPv4 address: RFC 4291, 2.5.5.2.
  private static let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  private static func bytes(of text: String, family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    // A link-local address carries its interface behind a percent sign.
    let address = text.prefix { $0 != "%" }
    return inet_pton(family, String(address), &bytes) == 1 ? bytes : nil
  }
}

extension AddressPrefix: CustomStringConvertible, CustomReflectable {
  var description: String { "AddressPrefix" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
