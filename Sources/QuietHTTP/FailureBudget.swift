// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A limit of failed attempts by address, by IPv6 network, by subject and in total. Only failures count.
///
/// An attempt reserves a slot in each of its counters before its work, so that concurrent attempts never exceed
/// a limit. A failure uses up the slot, a success frees it. While all remaining slots are reserved, further
/// attempts wait for one of the running attempts to end.
///
/// An attempt of an address or network that has used up its failures is verified too, a few at a time: if it is right
/// it succeeds, and if it is wrong it is refused. So no client is refused for the failures of others behind the same
/// address. See `ExcessAttempts`.
///
/// The failures of all clients have weights: the share of the total that one guess costs. The limits of addresses and
/// networks shrink as the total is used up, see `FailurePressure`; clients without earlier failures are served until
/// its end. See Documentation/Decisions/0029-failures-have-budgets.md.
public actor FailureBudget {
  let limits: FailureLimits
  private let keys: BudgetKeys
  let clock: any WallClock
  let shared: SharedBudget?
  /// The total of all processes when it was read; nil for none.
  var sharedTotal: (weight: Double, readAt: Date)?
  private let alarm: @Sendable (FailureAlarm) -> Void
  var tallies: [FailureLevel: [BudgetKey: FailureTally]] = [:]
  private var total = WeightedTally()
  private var waiters: [FailureCounterKey: [FailureWaiter]] = [:]
  private var nextWaiter = 0
  private var alarmedAt: [FailureAlarm: Date] = [:]
  let totalPlace: FailureCounterKey
  /// The total of clients that have used up their failures.
  let excessPlace: FailureCounterKey
  private var excess: ExcessAttempts
  /// The tasks that refuse waiting attempts of clients that have used up their failures.
  private var deadlines: [Int: Task<Void, Never>] = [:]

  /// Creates a budget without failures. `alarm` is called at most once in a window for each alarm.
  public init(
    _ limits: FailureLimits, clock: any WallClock, randomness: any Randomness,
    shared: SharedBudget? = nil,
    alarm: @escaping @Sendable (FailureAlarm) -> Void = { _ in }
  ) {
    self.limits = limits
    self.clock = clock
    self.alarm = alarm
    self.shared = shared
    let keys = shared?.keys ?? BudgetKeys(from: randomness)
    self.keys = keys
    totalPlace = FailureCounterKey(.total, keys.key(for: "total"))
    excessPlace = FailureCounterKey(.total, keys.key(for: "excess"))
    excess = ExcessAttempts(limits)
  }

  /// Runs `work` as an attempt of the client, which may be on a `subject` such as a code.
  ///
  /// An attempt that throws does not count.
  ///
  /// - Parameter weight: The share of the total that a failure uses up.
  /// - Throws: `QuietRefusal.tooManyAttempts` if the client, its network, the subject or all clients together
  ///   have too many failures; `.unavailable` if shared counters cannot be reached; the error of `work`.
  public func attempt<Value: Sendable>(
    from context: QuietContext, on subject: String? = nil, weight: Double = 1,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> AttemptResult<Value>
  ) async throws -> Value {
    try await attempt(by: context.client, on: subject, weight: weight, work)
  }

  func attempt<Value: Sendable>(
    by client: NumericAddress?, on subject: String?, weight: Double = 1,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> AttemptResult<Value>
  ) async throws -> Value {
    let attempt = FailureAttempt(
      places: FailureCounterKey.places(of: client, on: subject, keys), weight: max(0, weight))
    let admission = try await admit(attempt)
    let result: AttemptResult<Value>
    do {
      result = try await work()
    } catch {
      await finish(attempt, admission, hasFailed: false)
      throw error
    }
    await finish(attempt, admission, hasFailed: result.hasFailed)
    if let seconds = admission.excessWait, result.hasFailed {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if result.hasFailed { try await share(failureOf: attempt) }
    return result.value
  }

  /// The used share of the total, from 0 to 1; 0 without a total.
  public var pressure: Double {
    guard let most = limits.total else { return 0 }
    let (now, seconds) = (clock.now, limits.windowSeconds)
    let all = sharedTotal(at: now, seconds: Double(seconds / SharedLimit.partsOfWindow)) ?? 0
    let used = max(total.weight(at: now, windowSeconds: seconds), all)
    return min(1, (used + FailurePressure.rounding) / Double(most))
  }

  // MARK: - Reservations

  private enum Verdict {
    case admitted(FailureAdmission)
    /// The attempt waits for a running one in this counter.
    case waits(FailureCounterKey)
    /// The attempt waits for a running one of a client that has used up its failures.
    case waitsBeyondLimits(seconds: Int)
  }

  func begin(_ attempt: FailureAttempt) async throws -> FailureAdmission {
    var (blocked, excessWait): (FailureCounterKey?, Int) = (nil, 0)
    switch try verdict(on: attempt) {
    case .admitted(let admission):
      reserve(attempt, admission)
      return admission
    case .waits(let place): blocked = place
    case .waitsBeyondLimits(let seconds):
      guard hasPlaceToWait(for: attempt) else {
        throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
      }
      excessWait = seconds
    }
    nextWaiter += 1
    let (number, place, wait) = (nextWaiter, blocked, excessWait)
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await withCheckedThrowingContinuation { continuation in
        let waiter = FailureWaiter(
          number: number, attempt: attempt, continuation: continuation, excessWait: wait)
        add(waiter, to: place)
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  /// - Parameter place: The counter that the attempt waits for; nil for those of clients that have used up their
  ///   failures.
  private func add(_ waiter: FailureWaiter, to place: FailureCounterKey?) {
    if let place {
      waiters[place, default: []].append(waiter)
      return
    }
    excess.add(waiter)
    let (clock, number) = (clock, waiter.number)
    deadlines[number] = Task {
      do {
        try await clock.sleep(for: QuietLimit.excessWaitSecondsMax)
        self.refuseExcess(number)
      } catch {
        // The attempt does not wait any more.
      }
    }
  }

  /// Returns true if the attempt has a place to wait. If all are taken, it may get that of another
  /// one, which is refused.
  private func hasPlaceToWait(for attempt: FailureAttempt) -> Bool {
    if excess.mayWait(attempt) { return true }
    guard let other = excess.replaceable(by: attempt) else { return false }
    refuseExcess(other)
    return true
  }

  private func refuseExcess(_ number: Int) {
    guard let waiter = removeExcess(number) else { return }
    waiter.continuation.resume(
      throwing: QuietRefusal.tooManyAttempts(retryAfterSeconds: waiter.excessWait))
  }

  @discardableResult
  private func removeExcess(_ number: Int) -> FailureWaiter? {
    deadlines.removeValue(forKey: number)?.cancel()
    return excess.remove(number)
  }

  func end(_ attempt: FailureAttempt, _ admission: FailureAdmission, hasFailed: Bool) {
    let now = clock.now
    let places = reservedPlaces(of: attempt, admission)
    for place in places {
      tallies[place.level]?[place.key]?.end(hasFailed: hasFailed, at: now)
      if tallies[place.level]?[place.key]?.isEmpty == true {
        tallies[place.level]?[place.key] = nil
      }
    }
    if admission.excessWait != nil {
      excess.end(attempt, hasFailed: hasFailed, at: now)
      if hasFailed {
        countExcess(attempt, at: now)
        if excess.usedShare(at: now) >= FailurePressure.alarmingExcessShare {
          raise(.beyondLimits, at: now)
        }
      }
    } else if limits.total != nil {
      total.end(attempt.weight, hasFailed: hasFailed, at: now)
      if hasFailed, let reached = FailurePressure(pressure).alarm { raise(reached, at: now) }
    }
    for place in places + [totalPlace] { wakeWaiters(of: place) }
    wakeExcessWaiters()
  }

  /// Counts the failure of a client that had used up its failures, if it is a guess. A counter keeps as
  /// many failures as it may have, the latest ones, and adds no more than these to those of wider
  /// networks: one client does not use up the failures of its provider.
  private func countExcess(_ attempt: FailureAttempt, at now: Date) {
    guard limits.total != nil, attempt.weight > 0 else { return }
    for place in attempt.groups {
      guard let limit = limits.limit(of: place.level, under: .low) else { continue }
      if tallies[place.level]?[place.key] == nil { makeRoom(in: place.level) }
      var tally = tallies[place.level]?[place.key] ?? FailureTally()
      tally.expire(at: now, after: limits.windowSeconds)
      let isFull = tally.failures.count >= limit
      tally.add(at: now, atMost: limit)
      tallies[place.level, default: [:]][place.key] = tally
      if isFull { return }
    }
  }

  /// Resumes attempts that wait for `place`, in their order, while it has free slots. An attempt that is also
  /// blocked by another counter moves to the queue of that counter.
  private func wakeWaiters(of place: FailureCounterKey) {
    while let waiter = waiters[place]?.first {
      do {
        switch try verdict(on: waiter.attempt) {
        case .waits(place): return
        case .waits(let blocked):
          removeFirstWaiter(of: place)
          add(waiter, to: blocked)
        case .waitsBeyondLimits(let seconds):
          removeFirstWaiter(of: place)
          guard hasPlaceToWait(for: waiter.attempt) else {
            waiter.continuation.resume(
              throwing: QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds))
            continue
          }
          var waiter = waiter
          waiter.excessWait = seconds
          add(waiter, to: nil)
        case .admitted(let admission):
          removeFirstWaiter(of: place)
          reserve(waiter.attempt, admission)
          waiter.continuation.resume(returning: admission)
        }
      } catch {
        removeFirstWaiter(of: place)
        waiter.continuation.resume(throwing: error)
      }
    }
  }

  /// Resumes attempts of clients that have used up their failures, while they are admitted.
  private func wakeExcessWaiters() {
    while !excess.isFull, let waiter = excess.next {
      do {
        switch try verdict(on: waiter.attempt) {
        case .waitsBeyondLimits: return
        case .waits(let blocked):
          removeExcess(waiter.number)
          add(waiter, to: blocked)
        case .admitted(let admission):
          reserve(waiter.attempt, admission)
          removeExcess(waiter.number)
          waiter.continuation.resume(returning: admission)
        }
      } catch {
        removeExcess(waiter.number)
        waiter.continuation.resume(throwing: error)
      }
    }
  }

  private func removeFirstWaiter(of place: FailureCounterKey) {
    waiters[place]?.removeFirst()
    if waiters[place]?.isEmpty == true { waiters[place] = nil }
  }

  private func cancel(_ number: Int) {
    removeExcess(number)?.continuation.resume(throwing: CancellationError())
    for (place, queue) in waiters {
      guard let index = queue.firstIndex(where: { $0.number == number }) else { continue }
      waiters[place]?.remove(at: index)
      if waiters[place]?.isEmpty == true { waiters[place] = nil }
      queue[index].continuation.resume(throwing: CancellationError())
    }
  }

  private func reserve(_ attempt: FailureAttempt, _ admission: FailureAdmission) {
    for place in reservedPlaces(of: attempt, admission) {
      if tallies[place.level]?[place.key] == nil { makeRoom(in: place.level) }
      tallies[place.level, default: [:]][place.key, default: FailureTally()].reserved += 1
    }
    if admission.excessWait != nil {
      excess.reserve(attempt, at: clock.now)
    } else if limits.total != nil {
      total.reserve(attempt.weight)
    }
  }

  /// The counters of the attempt; of a client that has used up its failures only the subject.
  private func reservedPlaces(
    of attempt: FailureAttempt, _ admission: FailureAdmission
  ) -> [FailureCounterKey] {
    admission.excessWait == nil ? attempt.places : attempt.places.filter { $0.level == .subject }
  }

  /// Decides if an attempt is run now, waits for others, or is refused.
  ///
  /// - Throws: `.tooManyAttempts` with the longest wait.
  private func verdict(on attempt: FailureAttempt) throws(QuietRefusal) -> Verdict {
    let now = clock.now
    let pressure = FailurePressure(pressure)
    var (wait, full, isRefused): (Int?, FailureCounterKey?, Bool) = (nil, nil, false)
    for place in attempt.places {
      guard let limit = limits.limit(of: place.level, under: pressure) else { continue }
      tallies[place.level]?[place.key]?.expire(at: now, after: limits.windowSeconds)
      guard let tally = tallies[place.level]?[place.key] else { continue }
      if let seconds = tally.secondsToWait(limit, at: now, windowSeconds: limits.windowSeconds) {
        wait = max(wait ?? 0, seconds)
        isRefused = isRefused || !limits.mayExceed(place.level)
      } else if full == nil || place.level == .subject,
        tally.failures.count + tally.reserved >= limit
      {
        full = place
      }
    }
    if isRefused, let wait { throw .tooManyAttempts(retryAfterSeconds: wait) }
    if let full, wait == nil || full.level == .subject { return .waits(full) }
    if let wait { return try excessVerdict(on: attempt, wait, at: now) }
    if try isTotalFull(for: attempt.weight, at: now) { return .waits(totalPlace) }
    return .admitted(FailureAdmission(excessWait: nil))
  }

  /// - Throws: `.tooManyAttempts` if the client or its network has used up its share also of these attempts.
  private func excessVerdict(
    on attempt: FailureAttempt, _ wait: Int, at now: Date
  ) throws(QuietRefusal) -> Verdict {
    switch excess.verdict(on: attempt, at: now) {
    case .admitted: .admitted(FailureAdmission(excessWait: wait))
    case .waits: .waitsBeyondLimits(seconds: wait)
    case .refused: throw .tooManyAttempts(retryAfterSeconds: wait)
    }
  }

  /// Returns true if the rest of the total is reserved.
  ///
  /// - Throws: `.tooManyAttempts` if a guess of this weight no longer fits into the total.
  private func isTotalFull(for weight: Double, at now: Date) throws(QuietRefusal) -> Bool {
    guard let most = limits.total, weight > 0 else { return false }
    let used = total.weight(at: now, windowSeconds: limits.windowSeconds)
    let room = Double(most) * FailurePressure.share(for: weight) - used + FailurePressure.rounding
    guard weight <= room else {
      throw .tooManyAttempts(
        retryAfterSeconds: total.secondsToWait(at: now, windowSeconds: limits.windowSeconds))
    }
    return weight + total.reserved > room
  }

  // MARK: - Totals and memory

  /// Calls the alarm, once in a window.
  private func raise(_ reached: FailureAlarm, at now: Date) {
    let age = alarmedAt[reached].map { now.timeIntervalSince($0) }
    if let age, (0..<Double(limits.windowSeconds)).contains(age) { return }
    alarmedAt[reached] = now
    alarm(reached)
  }

  /// The number of attempts that wait for others to end.
  var waitingCount: Int { waiters.values.reduce(excess.waitingCount) { $0 + $1.count } }

  /// The number of keys in memory.
  var keyCount: Int { tallies.values.reduce(0) { $0 + $1.count } }

  /// Evicts the keys of `level` without a failure in the window. If that is not enough, also evicts the half with the
  /// fewest failures, of these the oldest first, so that failures from other addresses do not evict a client's
  /// counter. Keys with a reservation stay.
  func makeRoom(in level: FailureLevel) {
    guard var known = tallies[level], known.count >= limits.keysMax else { return }
    let now = clock.now
    for key in Array(known.keys) { known[key]?.expire(at: now, after: limits.windowSeconds) }
    known = known.filter { !$0.value.isEmpty }
    if known.count >= limits.keysMax {
      let idle = known.filter { $0.value.reserved == 0 }
        .sorted { $0.value.evictionOrder < $1.value.evictionOrder }
      for (key, _) in idle.prefix(limits.keysMax / 2) { known[key] = nil }
    }
    tallies[level] = known
  }
}
