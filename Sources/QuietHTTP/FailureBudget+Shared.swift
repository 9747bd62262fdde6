// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The part of a failure budget that several processes share.
///
/// An attempt that this process admits is reserved in the shared counters before its work, or counted there if it has
/// failed: see `SharedBudget.Counting`. If one of them is full because of other processes, the attempt is treated as if
/// its failures had been here.
extension FailureBudget {
  /// Admits an attempt, after a wait for others if necessary.
  ///
  /// - Throws: `QuietRefusal.tooManyAttempts`; `.unavailable` if the shared counters cannot be reached;
  ///   `CancellationError`.
  func admit(_ attempt: FailureAttempt) async throws -> FailureAdmission {
    var admission = try await begin(attempt)
    guard let shared, shared.counting == .attempts else { return admission }
    // As a usual attempt, and then as one of a client that has used up its failures.
    for _ in 0..<2 {
      let counted = places(of: attempt, admission)
      let amounts = counted.map { amount(at: $0, of: attempt, in: shared) }
      guard !amounts.isEmpty else { return admission }
      let reservation: SharedReservation
      do { reservation = try await shared.counters.reserve(amounts) } catch {
        end(attempt, admission, hasFailed: false)
        throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
      }
      note(reservation, of: counted)
      guard let full = reservation.full else {
        admission.reservation = reservation
        return admission
      }
      end(attempt, admission, hasFailed: false)
      let (place, seconds) = (counted[full], amounts[full].partSeconds)
      guard reservation.isFullOfFailures, admission.excessWait == nil, place.level != .total,
        limits.mayExceed(place.level)
      else {
        throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
      }
      close(place, for: seconds)
      admission = try await begin(attempt)
    }
    end(attempt, admission, hasFailed: false)
    throw QuietRefusal.tooManyAttempts(retryAfterSeconds: 1)
  }

  /// Counts a failure in the shared counters if its attempt was not reserved there.
  ///
  /// - Throws: `QuietRefusal.tooManyAttempts` if failures in other processes have filled one of them; `.unavailable` if
  ///   they cannot be reached.
  func share(failureOf attempt: FailureAttempt) async throws {
    guard let shared, shared.counting == .failures else { return }
    let counted = places(of: attempt, FailureAdmission(excessWait: nil))
    let amounts = counted.map { amount(at: $0, of: attempt, in: shared) }
    guard !amounts.isEmpty else { return }
    let reservation: SharedReservation
    do { reservation = try await shared.counters.reserve(amounts) } catch {
      throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
    note(reservation, of: counted)
    guard let full = reservation.full else {
      await shared.counters.end(reservation, hasFailed: true)
      return
    }
    let (place, seconds) = (counted[full], amounts[full].partSeconds)
    // The next attempts of the client are verified a few at a time, without a transaction.
    if reservation.isFullOfFailures, place.level != .total { close(place, for: seconds) }
    throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
  }

  /// Counts the failures of a client as used up for some time: other processes have counted them.
  private func close(_ place: FailureCounterKey, for seconds: Int) {
    if tallies[place.level]?[place.key] == nil { makeRoom(in: place.level) }
    tallies[place.level, default: [:]][place.key, default: FailureTally()].closedUntil =
      clock.now.addingTimeInterval(Double(seconds))
  }

  /// Ends an attempt here and in the shared counters.
  func finish(
    _ attempt: FailureAttempt, _ admission: FailureAdmission, hasFailed: Bool
  ) async {
    end(attempt, admission, hasFailed: hasFailed)
    guard let shared, let reservation = admission.reservation else { return }
    await shared.counters.end(reservation, hasFailed: hasFailed)
  }

  /// The used share of the total of all processes, from 0 to 1; 0 without a total.
  public func currentPressure() async -> Double {
    guard let shared, limits.total != nil,
      sharedTotal(at: clock.now, seconds: SharedLimit.totalSeconds) == nil
    else { return pressure }
    let place = totalPlace
    let amount = SharedAmount(
      counter: shared.counter(FailureLevel.total.number), key: place.key, amount: 0,
      limit: SharedLimit.attemptsMax, windowSeconds: limits.windowSeconds)
    // Without them the total of this process counts: a code is then as long as it was before.
    if let reservation = try? await shared.counters.reserve([amount]) {
      note(reservation, of: [place])
    }
    return pressure
  }

  /// The counters of an attempt: those of its places that have a limit and the total, or the total of the clients that
  /// have used up their failures.
  private func places(
    of attempt: FailureAttempt, _ admission: FailureAdmission
  ) -> [FailureCounterKey] {
    let pressure = FailurePressure(pressure)
    let isExcess = admission.excessWait != nil
    let own = attempt.places.filter {
      limits.limit(of: $0.level, under: pressure) != nil && (!isExcess || $0.level == .subject)
    }
    return limits.total != nil && attempt.weight > 0
      ? own + [isExcess ? excessPlace : totalPlace] : own
  }

  private func amount(
    at place: FailureCounterKey, of attempt: FailureAttempt, in shared: SharedBudget
  ) -> SharedAmount {
    let (amount, limit): (Double, Double) =
      if place == totalPlace {
        (attempt.weight, Double(limits.total ?? 0) * FailurePressure.share(for: attempt.weight))
      } else if place == excessPlace {
        (attempt.weight, Double(limits.total ?? 0) * QuietLimit.excessFailuresShare)
      } else {
        (1, Double(limits.limit(of: place.level, under: FailurePressure(pressure)) ?? 0))
      }
    return SharedAmount(
      counter: shared.counter(place.level.number), key: place.key, amount: amount, limit: limit,
      windowSeconds: limits.windowSeconds)
  }

  /// Remembers the total of all processes.
  private func note(_ reservation: SharedReservation, of places: [FailureCounterKey]) {
    guard let index = places.firstIndex(of: totalPlace), index < reservation.failures.count else {
      return
    }
    sharedTotal = (Double(reservation.failures[index]) / SharedAmount.unitsOfOne, clock.now)
  }

  /// The total of all processes if it was read in the last `seconds`.
  func sharedTotal(at now: Date, seconds: Double) -> Double? {
    guard let sharedTotal, (0..<seconds).contains(now.timeIntervalSince(sharedTotal.readAt)) else {
      return nil
    }
    return sharedTotal.weight
  }
}

extension FailureLevel {
  /// The number in shared counters, which is never changed.
  var number: Int64 {
    switch self {
    case .address: 1
    case .subnet: 2
    case .network: 3
    case .region: 4
    case .provider: 5
    case .subject: 6
    case .total: 7
    }
  }
}
