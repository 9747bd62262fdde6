import Secrets
import World

/// A random address that cannot be linked to a device, for one identifier.
///
/// Core Specification, Volume 6, Part B, 1.3.2.2 "Non-resolvable private address": the two most
/// significant bits are 0, the others are random, and neither all 0 nor all 1.
struct PrivateAddress: Hashable, Sendable {
  /// The size of an address, in bytes.
  static let byteCount = 6

  /// The bytes in the order of HCI: least significant byte first.
  let bytes: [UInt8]

  /// Draws a new address.
  init(_ randomness: some Randomness) {
    var bytes = Self.draw(randomness)
    // Both are excluded by the specification and have a probability of 1 in 2 to the power of 45.
    for _ in 0..<Self.drawsMax where !Self.isAllowed(bytes) { bytes = Self.draw(randomness) }
    self.bytes = bytes
  }

  private static let drawsMax = 8
  private static let randomBitsOfLastByte: UInt8 = 0b0011_1111

  private static func draw(_ randomness: some Randomness) -> [UInt8] {
    var bytes = randomness.bytes(byteCount)
    bytes[byteCount - 1] &= randomBitsOfLastByte
    return bytes
  }

  private static func isAllowed(_ bytes: [UInt8]) -> Bool {
    let areOnes = bytes.dropLast().allSatisfy { $0 == 0xff } && bytes.last == randomBitsOfLastByte
    return !areOnes && bytes.contains { $0 != 0 }
  }
}

extension PrivateAddress {
  /// The address as it is usually written, most significant byte first.
  var text: String {
    bytes.reversed().map { byte in
      let digits = String(byte, radix: 16)
      return digits.count < 2 ? "0" + digits : digits
    }.joined(separator: ":")
  }
}

extension PrivateAddress: Redacted {}
