import Crypto
import CryptoExtras
import Foundation

/// The specification by swift-crypto: what every tier has to say.
enum Oracle {
  /// HKDF-SHA256 without salt, "EN-RPIK", 16 bytes.
  static func identifierKey(of key: [UInt8]) -> [UInt8] {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key), info: Data("EN-RPIK".utf8), outputByteCount: 16
    ).withUnsafeBytes { Array($0) }
  }

  /// AES-128 of "EN-RPI", six zeros and the interval.
  static func identifier(of identifierKey: [UInt8], at interval: UInt32) throws -> [UInt8] {
    var block = Array("EN-RPI".utf8) + [UInt8](repeating: 0, count: 6)
    withUnsafeBytes(of: interval.littleEndian) { block += $0 }
    try AES.permute(&block, key: SymmetricKey(data: identifierKey))
    return block
  }

  /// All identifiers of a key, as a filter that holds everything lets them through.
  static func candidates(of keys: [PublishedKey]) throws -> Set<Candidate> {
    var all: Set<Candidate> = []
    for (index, key) in keys.enumerated() {
      let identifierKey = identifierKey(of: key.bytes)
      for offset in 0..<UInt32(key.length) {
        let interval = key.first &+ offset
        all.insert(
          Candidate(
            key: index, interval: interval,
            identifier: try identifier(of: identifierKey, at: interval)))
      }
    }
    return all
  }
}
