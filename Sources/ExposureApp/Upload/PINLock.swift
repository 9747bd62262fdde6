import Foundation

/// How often a wrong PIN may be typed. Documentation/App.md 5.2 holds the table in words.
public struct PINLock: Sendable, Hashable {
  /// The row in words.
  public let sentence: String
  /// So many refused PINs…
  public let tries: Int
  /// …within so many seconds…
  public let withinSeconds: TimeInterval
  /// …lock the entry for so many seconds after the last of them.
  public let lockSeconds: TimeInterval

  /// Every row; the longest lock holds.
  public static let table = [
    PINLock(
      sentence: "Three wrong PINs within a minute: wait a minute.",
      tries: 3, withinSeconds: 60, lockSeconds: 60),
    PINLock(
      sentence: "Five within two minutes: wait five minutes.",
      tries: 5, withinSeconds: 120, lockSeconds: 300),
    PINLock(
      sentence: "Ten within ten minutes: wait an hour.",
      tries: 10, withinSeconds: 600, lockSeconds: 3_600),
    PINLock(
      sentence: "Thirty within two hours: wait a day.",
      tries: 30, withinSeconds: 7_200, lockSeconds: 86_400),
  ]

  /// Until when no PIN may be tried, or nil where one may be. Refusals of a far future, left behind
  /// by a clock that was set back, lock nobody out until then.
  static func lockedUntil(refused: [Date], at now: Date) -> Date? {
    let refused = relevant(refused, at: now).sorted()
    return table.compactMap { $0.end(refused: refused) }.filter { $0 > now }.max()
  }

  /// The refusals that can still matter at `now`.
  static func relevant(_ refused: [Date], at now: Date) -> [Date] {
    let longest = table.map { $0.withinSeconds + $0.lockSeconds }.max() ?? 0
    return refused.filter { abs(now.timeIntervalSince($0)) <= longest }.suffix(countMax)
  }

  /// More refusals than the last row needs are not remembered.
  private static let countMax = 100

  /// When the lock of this row ends that `refused`, oldest first, have earned last.
  private func end(refused: [Date]) -> Date? {
    let lasts = refused.indices.dropFirst(tries - 1).filter { last in
      refused[last].timeIntervalSince(refused[last - tries + 1]) <= withinSeconds
    }
    return lasts.last.map { refused[$0].addingTimeInterval(lockSeconds) }
  }
}
