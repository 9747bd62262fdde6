// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A limit of failed attempts by address, by IPv6 network, by subject and in total. Only failures count.
///
/// An attempt reserves a slot in each of its counters before its work, so that concurrent attempts never exceed
/// a limit. A failure uses up the slot, a success frees it. While all remaining slots are reserved, further
/// attempts wait for one of the running attempts to end.
///
/// When half of the total is reached, the limits of addresses and networks are reduced to a tenth. Clients
/// without earlier failures are not affected. See Documentation/Decisions/0029-failures-have-budgets.md.
public actor FailureBudget {
  private let limits: FailureLimits
  private let keys: BudgetKeys
  private let clock: any WallClock
  private let alarm: @Sendable (FailureAlarm) -> Void
  private var tallies: [FailureLevel: [BudgetKey: FailureTally]] = [:]
  private var waiters: [FailureCounterKey: [Waiter]] = [:]
  private var nextWaiter = 0
  private var alarmedAt: [FailureAlarm: Date] = [:]

  private struct Waiter {
    let number: Int
    let places: [FailureCounterKey]
    let continuation: CheckedContinuation<Void, any Error>
  }

  /// Creates a budget without failures. `alarm` is called at most once in a window for each alarm.
  public init(
    _ limits: FailureLimits, clock: any WallClock, randomness: any Randomness,
    alarm: @escaping @Sendable (FailureAlarm) -> Void = { _ in }
  ) {
    self.limits = limits
    self.clock = clock
    self.alarm = alarm
    keys = BudgetKeys(from: randomness)
  }

  /// Runs `work` as an attempt of the client, which may be on a `subject` such as a code.
  ///
  /// An attempt that throws does not count.
  ///
  /// - Throws: `QuietRefusal.tooManyAttempts` if the client, its network, the subject or all clients together
  ///   have too many failures; the error of `work`.
  public func attempt<Value: Sendable>(
    from context: QuietContext, on subject: String? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> AttemptResult<Value>
  ) async throws -> Value {
    try await attempt(by: context.client, on: subject, work)
  }

  func attempt<Value: Sendable>(
    by client: NumericAddress?, on subject: String?,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> AttemptResult<Value>
  ) async throws -> Value {
    let places = places(of: client, on: subject)
    try await begin(places)
    do {
      let result = try await work()
      await end(places, hasFailed: result.hasFailed)
      return result.value
    } catch {
      await end(places, hasFailed: false)
      throw error
    }
  }

  /// The counters of an attempt. Only IPv6 is counted by network: adjacent IPv4 addresses belong to different users.
  private nonisolated func places(
    of client: NumericAddress?, on subject: String?
  ) -> [FailureCounterKey] {
    var places = [FailureCounterKey(.address, keys.key(for: client.map { AddressPrefix($0) }))]
    if let client, client.bytes.count == 16 {
      places.append(FailureCounterKey(.subnet, keys.key(for: AddressPrefix(client, byteCount: 7))))
      places.append(FailureCounterKey(.network, keys.key(for: AddressPrefix(client, byteCount: 6))))
    }
    if let subject { places.append(FailureCounterKey(.subject, keys.key(for: subject))) }
    return places + [FailureCounterKey(.total, keys.key(for: "total"))]
  }

  // MARK: - Reservations

  private func begin(_ places: [FailureCounterKey]) async throws {
    guard let blocked = try firstFull(places) else { return reserve(places) }
    nextWaiter += 1
    let number = nextWaiter
    try await withTaskCancellationHandler {
      try Task.checkCancellation()
      try await withCheckedThrowingContinuation { continuation in
        waiters[blocked, default: []].append(
          Waiter(number: number, places: places, continuation: continuation))
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  private func end(_ places: [FailureCounterKey], hasFailed: Bool) {
    let now = clock.now
    for place in places {
      tallies[place.level]?[place.key]?.end(hasFailed: hasFailed, at: now)
      if tallies[place.level]?[place.key]?.isEmpty == true {
        tallies[place.level]?[place.key] = nil
      }
    }
    if hasFailed { raiseAlarm(at: now) }
    for place in places { wakeWaiters(of: place) }
  }

  /// Resumes attempts that wait for `place`, in their order, while it has free slots. An attempt that is also
  /// blocked by another counter moves to the queue of that counter.
  private func wakeWaiters(of place: FailureCounterKey) {
    while let waiter = waiters[place]?.first {
      do {
        let blocked = try firstFull(waiter.places)
        guard blocked != place else { return }
        removeFirstWaiter(of: place)
        if let blocked {
          waiters[blocked, default: []].append(waiter)
        } else {
          reserve(waiter.places)
          waiter.continuation.resume()
        }
      } catch {
        removeFirstWaiter(of: place)
        waiter.continuation.resume(throwing: error)
      }
    }
  }

  private func removeFirstWaiter(of place: FailureCounterKey) {
    waiters[place]?.removeFirst()
    if waiters[place]?.isEmpty == true { waiters[place] = nil }
  }

  private func cancel(_ number: Int) {
    for (place, queue) in waiters {
      guard let index = queue.firstIndex(where: { $0.number == number }) else { continue }
      waiters[place]?.remove(at: index)
      if waiters[place]?.isEmpty == true { waiters[place] = nil }
      queue[index].continuation.resume(throwing: CancellationError())
    }
  }

  private func reserve(_ places: [FailureCounterKey]) {
    for place in places {
      if tallies[place.level]?[place.key] == nil { makeRoom(in: place.level) }
      tallies[place.level, default: [:]][place.key, default: FailureTally()].reserved += 1
    }
  }

  /// The first counter whose remaining slots are all reserved; nil if every counter has a free slot.
  ///
  /// - Throws: `.tooManyAttempts` if a counter has reached its limit of failures, with the longest wait.
  private func firstFull(_ places: [FailureCounterKey]) throws(QuietRefusal) -> FailureCounterKey? {
    let now = clock.now
    let isSlowed = failureCount(at: now) >= limits.totalBeforeSlowing
    var (wait, full): (Int?, FailureCounterKey?) = (nil, nil)
    for place in places {
      guard let limit = limits.limit(of: place.level, isSlowed: isSlowed) else { continue }
      tallies[place.level]?[place.key]?.expire(at: now, after: limits.windowSeconds)
      guard let tally = tallies[place.level]?[place.key] else { continue }
      if let seconds = tally.secondsToWait(limit, at: now, windowSeconds: limits.windowSeconds) {
        wait = max(wait ?? 0, seconds)
      }
      if full == nil, tally.failures.count + tally.reserved >= limit { full = place }
    }
    if let wait { throw .tooManyAttempts(retryAfterSeconds: wait) }
    return full
  }

  // MARK: - Totals and memory

  /// The failures of all clients in the window.
  private func failureCount(at now: Date) -> Int {
    guard limits.total != nil, let key = tallies[.total]?.keys.first else { return 0 }
    tallies[.total]?[key]?.expire(at: now, after: limits.windowSeconds)
    return tallies[.total]?[key]?.failures.count ?? 0
  }

  private func raiseAlarm(at now: Date) {
    guard let total = limits.total else { return }
    let count = failureCount(at: now)
    let reached: FailureAlarm? =
      count >= total ? .stopped : count >= limits.totalBeforeSlowing ? .slowed : nil
    guard let reached else { return }
    let age = alarmedAt[reached].map { now.timeIntervalSince($0) }
    if let age, (0..<Double(limits.windowSeconds)).contains(age) { return }
    alarmedAt[reached] = now
    alarm(reached)
  }

  /// The number of attempts that wait for others to end.
  var waitingCount: Int { waiters.values.reduce(0) { $0 + $1.count } }

  /// The number of keys in memory.
  var keyCount: Int { tallies.values.reduce(0) { $0 + $1.count } }

  /// Evicts the keys of `level` without a failure in the window. If that is not enough, also evicts the half whose
  /// last failures are oldest. Keys with a reservation stay.
  private func makeRoom(in level: FailureLevel) {
    guard var known = tallies[level], known.count >= limits.keysMax else { return }
    let now = clock.now
    for key in Array(known.keys) { known[key]?.expire(at: now, after: limits.windowSeconds) }
    known = known.filter { !$0.value.isEmpty }
    if known.count >= limits.keysMax {
      let idle = known.filter { $0.value.reserved == 0 }
        .sorted { ($0.value.failures.last ?? now) < ($1.value.failures.last ?? now) }
      for (key, _) in idle.prefix(limits.keysMax / 2) { known[key] = nil }
    }
    tallies[level] = known
  }
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

/// The limits of a `FailureBudget`: failures in a sliding window.
public struct FailureLimits: Sendable, Hashable {
  /// Failures of one address: all bits of IPv4, 64 bits of IPv6.
  public var perAddress: Int
  /// Failures of one IPv6 network of 56 bits, the usual size of a household.
  public var perSubnet: Int
  /// Failures of one IPv6 network of 48 bits, the usual size of a company or a rented server.
  public var perNetwork: Int
  /// Failures on one subject, such as a code; nil for no limit.
  public var perSubject: Int?
  /// Failures of all clients together; nil for no limit.
  public var total: Int?
  /// The window, in seconds.
  public var windowSeconds: Int
  /// Keys in memory for each level.
  var keysMax = QuietLimit.budgetKeysMax

  /// Limits by address and network, and if given by subject and in total.
  ///
  /// Without `perSubnet` and `perNetwork` a network has twice and four times the failures of an address.
  public init(
    perAddress: Int, perSubnet: Int? = nil, perNetwork: Int? = nil, perSubject: Int? = nil,
    total: Int? = nil, windowSeconds: Int
  ) {
    self.perAddress = perAddress
    self.perSubnet = perSubnet ?? 2 * perAddress
    self.perNetwork = perNetwork ?? 4 * perAddress
    self.perSubject = perSubject
    self.total = total
    self.windowSeconds = windowSeconds
  }

  /// The number of failures of all clients at which the limits of addresses and networks are reduced.
  var totalBeforeSlowing: Int { total.map { max(1, $0 / 2) } ?? .max }

  /// The failures that `level` may have; nil for no limit.
  func limit(of level: FailureLevel, isSlowed: Bool) -> Int? {
    let divisor = isSlowed ? QuietLimit.slowedFailuresDivisor : 1
    return switch level {
    case .address: max(1, perAddress / divisor)
    case .subnet: max(1, perSubnet / divisor)
    case .network: max(1, perNetwork / divisor)
    case .subject: perSubject
    case .total: total
    }
  }
}

/// A state of a `FailureBudget` that is reported to the operator.
public enum FailureAlarm: Hashable, Sendable {
  /// Half of the total is reached: the limits of addresses and networks are reduced to a tenth.
  case slowed
  /// The total is reached: all attempts are rejected.
  case stopped
}

/// The groups by which failures are counted.
enum FailureLevel: Hashable, Sendable {
  case address, subnet, network, subject, total
}

/// The key of one counter: a group of clients, or a subject.
struct FailureCounterKey: Hashable, Sendable {
  let level: FailureLevel
  let key: BudgetKey

  init(_ level: FailureLevel, _ key: BudgetKey) {
    self.level = level
    self.key = key
  }
}

/// One counter: the failures in the window, oldest first, and the number of running attempts.
struct FailureTally: Sendable {
  private(set) var failures: ArraySlice<Date> = []
  var reserved = 0

  var isEmpty: Bool { failures.isEmpty && reserved == 0 }

  /// Removes failures outside the window, and failures in the future, which precede a clock change.
  mutating func expire(at now: Date, after windowSeconds: Int) {
    while let first = failures.first, now.timeIntervalSince(first) >= Double(windowSeconds) {
      failures.removeFirst()
    }
    while let last = failures.last, last > now { failures.removeLast() }
    // `removeFirst` of a slice does not free memory.
    if failures.startIndex > failures.count + 16 { failures = ArraySlice(Array(failures)) }
  }

  mutating func end(hasFailed: Bool, at now: Date) {
    reserved -= 1
    if hasFailed { failures.append(now) }
  }

  /// The seconds until there are fewer failures than `limit`, at least 1; nil if there are fewer now.
  func secondsToWait(_ limit: Int, at now: Date, windowSeconds: Int) -> Int? {
    guard failures.count >= limit else { return nil }
    let lastToExpire = failures[failures.startIndex + failures.count - limit]
    let seconds = Double(windowSeconds) - now.timeIntervalSince(lastToExpire)
    return max(1, Int(seconds.rounded(.up)))
  }
}
