import Crypto
import Foundation
import World

/// The SHA-256 of a key file, by which an authority withdraws it. In JSON it is lower-case hex.
public struct KeyFileHash: Hashable, Sendable {
  /// The 32 bytes.
  public let bytes: Data

  /// The hash in `hex`, or nil unless it has 64 hexadecimal digits.
  public init?(hex: some StringProtocol) {
    let digits = Array(hex.utf8)
    guard digits.count == 2 * SHA256.byteCount else { return nil }
    var bytes = Data()
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  /// Hashes the content of `file`, or returns nil if it cannot be read.
  public init?(ofFile file: URL) {
    var hash = SHA256()
    guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
    bytes = Data(hash.finalize())
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension KeyFileHash: CustomStringConvertible {
  /// The hash in lower-case hex.
  public var description: String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension KeyFileHash: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let hash = Self(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "must be 64 hexadecimal digits")
    }
    self = hash
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
