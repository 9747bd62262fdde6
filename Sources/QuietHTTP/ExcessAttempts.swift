// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The attempts of clients that have used up their failures. A few are verified at once, and some wait.
///
/// Their failures use up a part of the total that is kept for them, so that they do not refuse other clients. Each
/// address and each network has a share: a multiple of what the others have left, both of the part of the total and of
/// the places to wait. One address alone can take a third, and something is left for the next address.
struct ExcessAttempts: Sendable {
  /// The weight of the failures in a window; nil for no limit.
  private let weightMax: Double?
  private let windowSeconds: Int
  private let keysMax: Int
  private let waitersMax: Int
  private var failures = WeightedTally()
  private var failuresByGroup: [FailureCounterKey: WeightedTally] = [:]
  private var running: [FailureCounterKey: Int] = [:]
  private var runningCount = 0
  private var waiters: [FailureWaiter] = []
  private var waiting: [FailureCounterKey: Int] = [:]
  /// The last turn of each group with a waiting attempt.
  private var turns: [FailureCounterKey: Int] = [:]
  private var turn = 0

  init(_ limits: FailureLimits) {
    weightMax = limits.total.map { Double($0) * QuietLimit.excessFailuresShare }
    windowSeconds = limits.windowSeconds
    keysMax = limits.keysMax
    waitersMax = limits.waitingExcessMax
  }

  /// The result of a request to be verified.
  enum Verdict {
    case admitted
    /// The attempt waits until another one ends.
    case waits
    /// The address or a network of it has used up its share.
    case refused
  }

  /// Decides if `attempt` is verified now.
  mutating func verdict(on attempt: FailureAttempt, at now: Date) -> Verdict {
    switch room(for: attempt, at: now) {
    case .admitted: isFull ? .waits : .admitted
    case .waits: .waits
    case .refused: .refused
    }
  }

  /// The used share of the part of the total, from 0 to 1; 0 without a total.
  mutating func usedShare(at now: Date) -> Double {
    guard let weightMax else { return 0 }
    let used = failures.weight(at: now, windowSeconds: windowSeconds)
    return min(1, (used + FailurePressure.rounding) / weightMax)
  }

  /// The number of groups in memory.
  var groupCount: Int { failuresByGroup.count }

  /// True if as many attempts as possible are verified.
  var isFull: Bool { runningCount >= QuietLimit.excessAttemptsMax }

  /// Compares the weight of `attempt` with the shares of its groups.
  private mutating func room(for attempt: FailureAttempt, at now: Date) -> Verdict {
    guard let weightMax, attempt.weight > 0 else { return .admitted }
    let used = failures.weight(at: now, windowSeconds: windowSeconds)
    let (left, reserved) = (weightMax - used, failures.reserved)
    var verdict = Verdict.admitted
    for group in attempt.groups {
      let own = failuresByGroup[group]?.weight(at: now, windowSeconds: windowSeconds) ?? 0
      let ownReserved = failuresByGroup[group]?.reserved ?? 0
      let factor = group.level.excessFactor
      let room = factor * left - own + FailurePressure.rounding
      guard attempt.weight <= room else { return .refused }
      if attempt.weight > room - factor * reserved - ownReserved { verdict = .waits }
    }
    return verdict
  }

  mutating func reserve(_ attempt: FailureAttempt, at now: Date) {
    runningCount += 1
    turn += 1
    for group in attempt.groups {
      running[group, default: 0] += 1
      if waiting[group] != nil { turns[group] = turn }
    }
    guard weightMax != nil, attempt.weight > 0 else { return }
    makeRoom(at: now)
    failures.reserve(attempt.weight)
    for group in attempt.groups {
      failuresByGroup[group, default: WeightedTally()].reserve(attempt.weight)
    }
  }

  mutating func end(_ attempt: FailureAttempt, hasFailed: Bool, at now: Date) {
    runningCount -= 1
    for group in attempt.groups { running.decrease(group) }
    guard weightMax != nil, attempt.weight > 0 else { return }
    failures.end(attempt.weight, hasFailed: hasFailed, at: now)
    for group in attempt.groups {
      failuresByGroup[group]?.end(attempt.weight, hasFailed: hasFailed, at: now)
      if failuresByGroup[group]?.isEmpty == true { failuresByGroup[group] = nil }
    }
  }

  /// Removes the shares without a failure in the window if there are too many, and if that is not enough, the smaller
  /// half. The part of the total still limits all groups together.
  private mutating func makeRoom(at now: Date) {
    guard failuresByGroup.count >= keysMax else { return }
    var weights: [(group: FailureCounterKey, weight: Double)] = []
    for group in Array(failuresByGroup.keys) {
      let weight = failuresByGroup[group]?.weight(at: now, windowSeconds: windowSeconds) ?? 0
      if failuresByGroup[group]?.isEmpty == true { failuresByGroup[group] = nil }
      weights.append((group, weight))
    }
    guard failuresByGroup.count >= keysMax else { return }
    let idle = weights.filter { failuresByGroup[$0.group]?.isReserved == false }
    for (group, _) in idle.sorted(by: { $0.weight < $1.weight }).prefix(keysMax / 2) {
      failuresByGroup[group] = nil
    }
  }

  // MARK: - Waiting

  /// The number of attempts that wait.
  var waitingCount: Int { waiters.count }

  /// True if each group of `attempt` has a place to wait left in its share.
  func mayWait(_ attempt: FailureAttempt) -> Bool {
    let left = waitersMax - waiters.count
    return left > 0
      && attempt.groups.allSatisfy {
        Double(waiting[$0] ?? 0) < $0.level.excessFactor * Double(left)
      }
  }

  /// The waiting attempt that `attempt` replaces if all places are taken: the newest one of the address with the most.
  /// Nil if the address or network of `attempt` has a place, or no address has several.
  func replaceable(by attempt: FailureAttempt) -> Int? {
    guard waiters.count >= waitersMax,
      attempt.groups.allSatisfy({ waiting[$0] == nil || !$0.level.isNarrow })
    else { return nil }
    let counts = waiters.map { waiter in
      (waiter.attempt.groups.first.flatMap { waiting[$0] } ?? 0, waiter.number)
    }
    guard let largest = counts.max(by: <), largest.0 > 1 else { return nil }
    return largest.1
  }

  mutating func add(_ waiter: FailureWaiter) {
    waiters.append(waiter)
    for group in waiter.attempt.groups { waiting[group, default: 0] += 1 }
  }

  /// Removes a waiting attempt; returns nil if there is none with this number.
  mutating func remove(_ number: Int) -> FailureWaiter? {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
    let waiter = waiters.remove(at: index)
    for group in waiter.attempt.groups {
      waiting.decrease(group)
      if waiting[group] == nil { turns[group] = nil }
    }
    return waiter
  }

  /// The attempt that is next: of the network with the fewest running ones, then of the address that has waited longest
  /// for a turn.
  var next: FailureWaiter? {
    waiters.min { priority(of: $0) < priority(of: $1) }
  }

  private func priority(of waiter: FailureWaiter) -> (Int, Int, Int) {
    let groups = waiter.attempt.groups
    return (
      groups.last.flatMap { running[$0] } ?? 0, groups.first.flatMap { turns[$0] } ?? 0,
      waiter.number
    )
  }
}

/// An attempt of a client with the counters that it belongs to.
struct FailureAttempt: Sendable {
  let places: [FailureCounterKey]
  let weight: Double

  /// The groups of clients that the client belongs to, the narrowest first.
  var groups: [FailureCounterKey] { places.filter { $0.level != .subject } }
}

/// The result of an attempt.
public enum AttemptResult<Value: Sendable>: Sendable {
  /// The attempt does not count.
  case succeeded(Value)
  /// The attempt counts.
  case failed(Value)

  var value: Value {
    switch self {
    case .succeeded(let value), .failed(let value): value
    }
  }

  var hasFailed: Bool {
    if case .failed = self { true } else { false }
  }
}

/// The permission to run an attempt.
struct FailureAdmission: Sendable {
  /// The seconds to wait if the attempt fails, for a client that has used up its failures; otherwise nil.
  var excessWait: Int?
  /// The reservation in the counters of all processes; nil without them.
  var reservation: SharedReservation?
}

/// An attempt that waits for a permission.
struct FailureWaiter: Sendable {
  let number: Int
  let attempt: FailureAttempt
  let continuation: CheckedContinuation<FailureAdmission, any Error>
  /// The seconds until the client has failures left again; 0 while it has some.
  var excessWait = 0
}

extension FailureLevel {
  /// The share of a group in the attempts of clients that have used up their failures, as a multiple of what is left of
  /// them. It grows with the group, so that one address does not take the share of its whole network.
  fileprivate var excessFactor: Double {
    switch self {
    case .address: 0.5
    case .subnet: 0.75
    case .network: 1
    case .region: 9
    case .provider, .subject, .total: 10
    }
  }
}

extension [FailureCounterKey: Int] {
  /// Decreases a count, which is removed at zero.
  fileprivate mutating func decrease(_ key: FailureCounterKey) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}
