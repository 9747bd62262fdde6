/// A network: an address, and how many of its first bits all addresses in it share.
struct AddressNetwork: Sendable {
  let address: NumericAddress
  let bits: Int

  /// The network in `text`, an address alone or with its bits behind a slash, such as `10.0.0.0/8` or
  /// `fd00::/8`; nil where it is none, or shares fewer than `bitsMin` bits.
  init?(_ text: String, bitsMin: Int = 0) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = NumericAddress(parts[0]) else { return nil }
    let all = address.bytes.count * 8
    // IPv4 written as IPv6 has 96 bits before its own (RFC 4291, 2.5.5.2).
    let others = parts[0].contains(":") ? 128 - all : 0
    // `UInt8` reads a sign as well, and zeros before the number: whoever wrote them meant something else.
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
