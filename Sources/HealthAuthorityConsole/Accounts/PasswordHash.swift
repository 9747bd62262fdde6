// SPDX-License-Identifier: Apache-2.0
import Crypto
import _CryptoExtras
import Foundation
import Secrets
import World

/// The hash of a password: scrypt (RFC 7914) with a random salt.
///
/// The text is `scrypt$15$<salt>$<hash>`: the logarithm of the cost, and base64.
struct PasswordHash: Redacted, Sendable {
  private static let blockSize = 8
  private static let parallelism = 3
  private static let saltBytes = 16
  private static let hashBytes = 32
  private static let costLogs = 1...20

  let text: String

  /// Hashes `password` with a new salt.
  ///
  /// - Throws: If there is not enough memory.
  init(of password: String, costLog: Int, randomness: any Randomness) throws {
    let salt = Data(randomness.bytes(Self.saltBytes))
    let hash = try Self.hash(of: password, salt: salt, costLog: costLog)
    text = "scrypt$\(costLog)$\(salt.base64EncodedString())$\(hash.base64EncodedString())"
  }

  /// A hash that no password matches. A check of it takes as long as a check of any other hash.
  init(unmatchableWithCostLog costLog: Int) {
    let (salt, hash) = (Data(count: Self.saltBytes), Data(count: Self.hashBytes))
    text = "scrypt$\(costLog)$\(salt.base64EncodedString())$\(hash.base64EncodedString())"
  }

  /// A stored hash.
  init(text: String) { self.text = text }

  /// True if `password` is the one that was hashed.
  ///
  /// - Throws: If there is not enough memory.
  func matches(_ password: String) throws -> Bool {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "scrypt", let costLog = Int(parts[1]),
      Self.costLogs.contains(costLog), let salt = Data(base64Encoded: String(parts[2])),
      let stored = Data(base64Encoded: String(parts[3]))
    else { return false }
    return isEqualInConstantTime(
      try Self.hash(of: password, salt: salt, costLog: costLog), stored)
  }

  /// Normalizes the password first, because keyboards compose the same characters differently.
  private static func hash(of password: String, salt: Data, costLog: Int) throws -> Data {
    // The library traps on empty input.
    let bytes = Data(password.precomposedStringWithCanonicalMapping.utf8) + [0]
    return try KDF.Scrypt.deriveKey(
      from: bytes, salt: salt, outputByteCount: hashBytes, rounds: 1 << costLog,
      blockSize: blockSize, parallelism: parallelism
    ).withUnsafeBytes { Data($0) }
  }
}
