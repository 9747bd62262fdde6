import Crypto
import CryptoExtras
import Dispatch
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

/// Checks passwords, a few at a time: each check needs 32 MiB and a tenth of a second.
///
/// Each concurrent check has a dispatch queue, so that checks do not block the threads that serve requests.
final class PasswordChecks: Sendable {
  private let queues: [DispatchQueue]
  private let costLog: Int
  private let unknown: PasswordHash
  private let randomness: any Randomness

  /// Checks at most `countMax` passwords at once.
  init(countMax: Int, costLog: Int, randomness: any Randomness) {
    queues = (0..<max(1, countMax)).map { DispatchQueue(label: "password-checks-\($0)") }
    self.costLog = costLog
    self.randomness = randomness
    unknown = PasswordHash(unmatchableWithCostLog: costLog)
  }

  /// True if `password` matches. Without a hash the check takes as long and fails, so that its timing does not reveal
  /// which names exist.
  func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool {
    let isEqual = try await run { [unknown] in try (hash ?? unknown).matches(password) }
    return isEqual && hash != nil
  }

  /// The hash of a new password.
  func hash(_ password: String) async throws -> PasswordHash {
    try await run { [costLog, randomness] in
      try PasswordHash(of: password, costLog: costLog, randomness: randomness)
    }
  }

  private func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let queue = queues[randomness.number(in: 0...(queues.count - 1))]
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}
