/// The part of an address that one subscriber cannot change at will: an IPv4 address whole, of an
/// IPv6 address the first 64 bits.
struct AddressPrefix: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ address: NumericAddress) {
    bytes = address.bytes.count == 4 ? address.bytes : Array(address.bytes.prefix(8))
  }

  /// Nil where `text` is no numeric address.
  init?(_ text: String) {
    guard let address = NumericAddress(text) else { return nil }
    self.init(address)
  }
}

extension AddressPrefix: CustomStringConvertible, CustomReflectable {
  var description: String { "AddressPrefix" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
