// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TextEncodings
import World

/// The SHA-256 of a key file, by which an authority withdraws it. In JSON it is lower-case hex.
public struct KeyFileHash: Hashable, Sendable {
  /// The 32 bytes.
  public let bytes: Data

  /// The hash in `hex`, or nil unless it has 64 hexadecimal digits.
  public init?(hex: some StringProtocol) {
    guard let bytes = Data(hexadecimal: hex), bytes.count == SHA256.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The hash with these bytes, or nil unless there are 32.
  public init?(_ bytes: Data) {
    guard bytes.count == SHA256.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Hashes the content of `file`, or returns nil if it cannot be read.
  public init?(ofFile file: URL) {
    var hash = SHA256()
    guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
    bytes = Data(hash.finalize())
  }
}

extension KeyFileHash: CustomStringConvertible {
  /// The hash in lower-case hex.
  public var description: String { bytes.hexadecimal }
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
