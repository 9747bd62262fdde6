// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// Counters in sliding windows that several processes have in common, so that an attacker who reaches all of them has
/// one budget.
public protocol SharedCounters: Sendable {
  /// Adds `amounts` to the running attempts if no counter exceeds its limit then; otherwise adds nothing. If the rest
  /// of a limit is reserved by running attempts, it waits for them, for about a second.
  ///
  /// - Throws: If the counters cannot be reached. The attempt must not run then.
  func reserve(_ amounts: [SharedAmount]) async throws -> SharedReservation

  /// Ends an attempt: it does not run any more, and counts if it has failed. It is stored later; until then, and if
  /// that fails, it counts as running.
  func end(_ reservation: SharedReservation, hasFailed: Bool) async

  /// Subtracts a failure that was counted in `part` of a window. It is stored later.
  func subtract(_ amount: SharedAmount, in part: Int64) async
}

/// An amount that an attempt adds to one counter.
public struct SharedAmount: Hashable, Sendable {
  /// The number of the budget and of the group of clients in it.
  public let counter: Int64
  /// The client, network or subject.
  public let key: BudgetKey
  /// The amount in millionths of an attempt.
  public let units: Int64
  /// The largest sum in a window, in millionths.
  public let limit: Int64
  /// The window, in seconds.
  public let windowSeconds: Int

  /// The units of one attempt.
  public static let unitsOfOne: Double = 1_000_000

  /// The part of a window in which attempts are added up, in seconds. They leave the window together.
  public var partSeconds: Int { max(1, windowSeconds / SharedLimit.partsOfWindow) }

  init(counter: Int64, key: BudgetKey, amount: Double, limit: Double, windowSeconds: Int) {
    self.counter = counter
    self.key = key
    units = Self.units(amount)
    self.limit = Self.units(limit)
    self.windowSeconds = windowSeconds
  }

  private static func units(_ value: Double) -> Int64 {
    Int64((min(value, SharedLimit.attemptsMax) * unitsOfOne).rounded())
  }
}

/// The result of a reservation.
public struct SharedReservation: Sendable {
  /// The amounts that were added, each with its part of the window; empty if a counter was full.
  public let added: [(amount: SharedAmount, part: Int64)]
  /// The failures in the counters by the positions of the amounts, in millionths.
  public let failures: [Int64]
  /// The position of the first counter that was full; nil if all amounts were added.
  public let full: Int?
  /// True if that counter was full of failures, so that no running attempt can free it.
  public let isFullOfFailures: Bool

  public init(
    added: [(amount: SharedAmount, part: Int64)], failures: [Int64], full: Int? = nil,
    isFullOfFailures: Bool = false
  ) {
    self.added = added
    self.failures = failures
    self.full = full
    self.isFullOfFailures = isFullOfFailures
  }
}

/// Limits of shared counters.
public enum SharedLimit {
  /// The number of parts of a window. A failure counts for a window and at most one part more.
  public static let partsOfWindow = 8
  /// The largest limit of a counter.
  static let attemptsMax = 1e9
  /// The age at which the total of other processes is read again, in seconds.
  static let totalSeconds = 1.0
}

/// A budget that several processes share.
public struct SharedBudget: Sendable {
  /// The moment at which a `FailureBudget` counts an attempt in the shared counters.
  public enum Counting: Sendable {
    /// Before its work: all processes together never run more attempts than a limit, and each costs a share of a
    /// transaction.
    case attempts
    /// After its work and before its response, if it has failed: a success costs nothing. A failure above a limit is
    /// refused without its response. For attempts with secrets that are too long to guess.
    case failures
  }

  let counters: any SharedCounters
  let keys: BudgetKeys
  let number: Int16
  let counting: Counting

  /// - Parameters:
  ///   - counters: The counters.
  ///   - keys: Derives the keys; of a secret that all processes have.
  ///   - number: The number of the budget among those with the same counters.
  ///   - counting: The attempts that a `FailureBudget` counts.
  public init(
    _ counters: any SharedCounters, keys: BudgetKeys, number: Int16, counting: Counting = .attempts
  ) {
    self.counters = counters
    self.keys = keys
    self.number = number
    self.counting = counting
  }

  /// The number of levels for which a budget has counters.
  private static let levels: Int64 = 16

  func counter(_ level: Int64) -> Int64 { Int64(number) * Self.levels + level }

  /// Counts one of `attempts` of a subject in a window.
  ///
  /// - Returns: False if all are used up.
  /// - Throws: The error of the counters.
  public func spend(
    _ subject: String, of attempts: Int, windowSeconds: Int
  ) async throws -> Bool {
    let reservation = try await counters.reserve([
      amount(of: subject, attempts, windowSeconds)
    ])
    guard reservation.full == nil else { return false }
    await counters.end(reservation, hasFailed: true)
    return true
  }

  /// Gives back one of the attempts that were counted in the window before `now`.
  public func refund(
    _ subject: String, of attempts: Int, windowSeconds: Int, at now: Date
  ) async {
    let amount = amount(of: subject, attempts, windowSeconds)
    let part = now.unixSecond / Int64(amount.partSeconds)
    await counters.subtract(amount, in: part)
  }

  private func amount(
    of subject: String, _ attempts: Int, _ windowSeconds: Int
  ) -> SharedAmount {
    SharedAmount(
      counter: counter(0), key: keys.key(for: subject), amount: 1, limit: Double(attempts),
      windowSeconds: windowSeconds)
  }
}
