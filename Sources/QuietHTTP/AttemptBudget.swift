import Foundation
import World

/// So many attempts in so many seconds for each key, and no more.
///
/// The window slides: an attempt counts for exactly `windowSeconds`. What is remembered is bounded;
/// when there are too many keys, those that tried least recently are forgotten. Whoever can fill
/// the memory owns that many addresses, and so has that many budgets anyway.
public actor AttemptBudget {
  /// How many attempts a key has in a window.
  public nonisolated let attempts: Int
  /// How long an attempt counts, in seconds.
  public nonisolated let windowSeconds: Int

  private let keysMax: Int
  private let clock: any WallClock
  private var spent: [BudgetKey: [Date]] = [:]

  /// A budget of `attempts` in `windowSeconds`; at most `keysMax` keys are remembered.
  public init(
    attempts: Int, windowSeconds: Int, keysMax: Int = QuietLimit.budgetKeysMax,
    clock: any WallClock
  ) {
    self.attempts = attempts
    self.windowSeconds = windowSeconds
    self.keysMax = keysMax
    self.clock = clock
  }

  /// Takes one attempt of `key`'s budget.
  ///
  /// - Returns: Nil where there was one left; else after how many seconds to try again, at least 1.
  public func spend(_ key: BudgetKey) -> Int? {
    let now = clock.now
    let counted = counting(spent[key] ?? [], at: now)
    guard counted.count < attempts else { return secondsUntilOneIsFree(of: counted, at: now) }
    if spent[key] == nil { makeRoom(at: now) }
    spent[key] = counted + [now]
    return nil
  }

  /// Whether `key` has attempts left, without taking one: for callers of whom most are honest, and who
  /// come many at a time.
  ///
  /// - Returns: Nil where there is one left; else after how many seconds to try again, at least 1.
  public func secondsToWait(_ key: BudgetKey) -> Int? {
    let now = clock.now
    let counted = counting(spent[key] ?? [], at: now)
    return counted.count < attempts ? nil : secondsUntilOneIsFree(of: counted, at: now)
  }

  /// Gives `key` its latest attempt back, where it turned out to be an honest one.
  public func giveBack(_ key: BudgetKey) {
    spent[key]?.removeLast()
    if spent[key]?.isEmpty == true { spent[key] = nil }
  }

  /// How many keys are remembered now.
  public var keyCount: Int { spent.count }

  /// Those attempts that count at `now`. One from the future was made before the clock was set back.
  private func counting(_ dates: [Date], at now: Date) -> [Date] {
    dates.filter { $0 <= now && now.timeIntervalSince($0) < Double(windowSeconds) }
  }

  private func secondsUntilOneIsFree(of counted: [Date], at now: Date) -> Int {
    let oldest = counted.first ?? now
    let seconds = Double(windowSeconds) - now.timeIntervalSince(oldest)
    return max(1, Int(seconds.rounded(.up)))
  }

  private func makeRoom(at now: Date) {
    guard spent.count >= keysMax else { return }
    spent = spent.filter { !counting($0.value, at: now).isEmpty }
    guard spent.count >= keysMax else { return }
    // Half of them at once, so that a flood costs one sort in many attempts.
    let latest = spent.sorted { ($0.value.last ?? now) > ($1.value.last ?? now) }
    spent = Dictionary(uniqueKeysWithValues: latest.prefix(keysMax / 2).map { ($0.key, $0.value) })
  }
}
