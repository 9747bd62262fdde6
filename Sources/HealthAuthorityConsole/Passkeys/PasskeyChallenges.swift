import Foundation
import Secrets
import Synchronization
import World

/// The challenges that passkeys sign: random bytes, an expiry and an authentication code over both, so that a challenge
/// is not stored before it is used. Each challenge works once.
final class PasskeyChallenges: Sendable {
  private let keys: ConsoleKeys
  private let seconds: Int64
  private let usedMax: Int
  private let randomness: any Randomness
  /// The used challenges, with their expiry.
  private let used = Mutex<[Data: Int64]>([:])

  private static let randomBytes = 16
  private static let codeBytes = 16

  init(keys: ConsoleKeys, seconds: Int64, usedMax: Int, randomness: any Randomness) {
    self.keys = keys
    self.seconds = seconds
    self.usedMax = usedMax
    self.randomness = randomness
  }

  /// A new challenge for one purpose, such as `register 7`.
  func challenge(for purpose: String, at now: Int64) -> Data {
    let expiry = withUnsafeBytes(of: (now + seconds).bigEndian) { Data($0) }
    let head = Data(randomness.bytes(Self.randomBytes)) + expiry
    return head + code(of: head, purpose)
  }

  /// True if the challenge was made for the purpose, has not expired and was not used before. It then counts as used.
  func use(_ challenge: Data, for purpose: String, at now: Int64) -> Bool {
    let challenge = Data(challenge)
    let head = challenge.prefix(Self.randomBytes + 8)
    guard challenge.count == Self.randomBytes + 8 + Self.codeBytes,
      isEqualInConstantTime(challenge.suffix(Self.codeBytes), code(of: head, purpose))
    else { return false }
    let expiry = head.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard now < expiry else { return false }
    return used.withLock { used in
      guard used[head] == nil else { return false }
      if used.count >= usedMax { used = used.filter { $0.value > now } }
      // If the list is full, refusing a challenge is safer than forgetting a used one.
      guard used.count < usedMax else { return false }
      used[head] = expiry
      return true
    }
  }

  private func code(of head: Data, _ purpose: String) -> Data {
    keys.code(of: head + Data(purpose.utf8), for: .challenge).prefix(Self.codeBytes)
  }
}
