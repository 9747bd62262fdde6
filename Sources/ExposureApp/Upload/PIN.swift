// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import VerificationAPI
import World

/// A PIN or a short code that the user has typed: digits and upper-case letters, or digits alone.
struct PIN: Sendable, Equatable {
  /// The characters.
  let bytes: ZeroingBytes

  /// Parses typed text; `nil` if it is not a PIN. Text with no other letters than `O` and `I` is a short code: new PINs
  /// have none of them.
  init?(_ typed: ZeroingBytes) {
    // Bound directly: a copy of the optional array would share its memory, which then is not overwritten.
    guard
      var characters = typed.withUnsafeBytes({
        ShortCode.characters(typed: $0) ?? VerificationCode.characters(typed: $0)
      })
    else { return nil }
    bytes = ZeroingBytes(moving: &characters)
  }

  /// The allowed lengths of PINs and short codes.
  private static let characterCounts =
    min(
      VerificationCode.characterCounts.lowerBound, ShortCode.digitCounts.lowerBound)...max(
      VerificationCode.characterCounts.upperBound, ShortCode.digitCounts.upperBound)

  /// A PIN that was stored.
  init?(stored bytes: ZeroingBytes) {
    guard Self.characterCounts.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }
}

extension PIN: Redacted {}

/// A rate limit for wrong PINs.
public struct PINLock: Sendable, Hashable {
  /// The explanation of the limit.
  public let message: String
  /// The number of refused PINs that locks the entry.
  public let tries: Int
  /// The period in which they were refused, in seconds.
  public let withinSeconds: TimeInterval
  /// The duration of the lock after the last of them, in seconds.
  public let lockSeconds: TimeInterval

  /// All limits; the longest lock applies.
  public static let table = [
    PINLock(
      message: "Three wrong PINs within a minute: wait a minute.",
      tries: 3, withinSeconds: 60, lockSeconds: 60),
    PINLock(
      message: "Five within two minutes: wait five minutes.",
      tries: 5, withinSeconds: 120, lockSeconds: 300),
    PINLock(
      message: "Ten within ten minutes: wait an hour.",
      tries: 10, withinSeconds: 600, lockSeconds: 3_600),
    PINLock(
      message: "Thirty within two hours: wait a day.",
      tries: 30, withinSeconds: 7_200, lockSeconds: 86_400),
  ]

  /// The end of the current lock, or `nil`. Refusals far in the future, from before the clock was set
  /// back, are ignored.
  static func lockedUntil(refused: [Date], at now: Date) -> Date? {
    let refused = relevant(refused, at: now).sorted()
    return table.compactMap { $0.end(refused: refused) }.filter { $0 > now }.max()
  }

  /// The refusals that can still cause a lock at `now`.
  static func relevant(_ refused: [Date], at now: Date) -> [Date] {
    let longest = table.map { $0.withinSeconds + $0.lockSeconds }.max() ?? 0
    return refused.filter { abs(now.timeIntervalSince($0)) <= longest }.suffix(countMax)
  }

  private static let countMax = 100

  /// The end of the last lock that `refused`, oldest first, has caused by this limit.
  private func end(refused: [Date]) -> Date? {
    let lasts = refused.indices.dropFirst(tries - 1).filter { last in
      refused[last].timeIntervalSince(refused[last - tries + 1]) <= withinSeconds
    }
    return lasts.last.map { refused[$0].addingTimeInterval(lockSeconds) }
  }
}
