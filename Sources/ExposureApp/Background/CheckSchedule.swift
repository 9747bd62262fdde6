import Foundation
import World

/// The time of the next check, which survives a restart. The property names are the JSON keys on disk.
struct CheckSchedule: Codable, Sendable, Equatable {
  /// The time of the next check; `nil` before the first.
  private(set) var next: Date?
  /// The number of checks that have failed in a row.
  private(set) var failures = 0

  /// Sets the next check after one that ended with `outcome` at `now`.
  ///
  /// - Parameter pause: The time until which the server has asked for no requests.
  mutating func finish(
    _ outcome: CheckOutcome, at now: Date, pause: Date?, randomness: any Randomness
  ) {
    failures = outcome.isSuccess ? 0 : min(failures + 1, BackgroundRule.failuresMax)
    let seconds =
      outcome.isRetriedSoon
      ? min(
        BackgroundRule.retrySeconds * Double(1 << (failures - 1)), BackgroundRule.checkSeconds)
      : BackgroundRule.checkSeconds
    let jitter = Double(randomness.number(in: BackgroundRule.jitterSeconds))
    next = max(now.addingTimeInterval(seconds), pause ?? now).addingTimeInterval(jitter)
  }

  /// The time of the next check. One that is too far in the future was set before the clock was set back,
  /// and is due now.
  func due(at now: Date) -> Date {
    guard let next, next.timeIntervalSince(now) <= BackgroundRule.waitSecondsMax else { return now }
    return next
  }
}

extension CheckOutcome {
  /// True if a retry before the next regular check may succeed.
  fileprivate var isRetriedSoon: Bool {
    guard case .failed(let failure) = self else { return false }
    switch failure {
    case .noConnection, .serverBusy, .invalidIndex, .timeIsUp, .detectionFailed, .systemSilent,
      .diskFailed:
      return true
    default: return false
    }
  }
}

extension ExposureApp {
  /// Runs checks on schedule until the task is cancelled.
  ///
  /// A check that was due while the phone slept or the program was not running is run once, soon after
  /// resuming. The wait polls the clock, so that a clock change is noticed.
  public func runSchedule() async {
    while !Task.isCancelled {
      do {
        try await waitUntilDue()
      } catch {
        return
      }
      _ = await check()
      if store.state.schedule.due(at: clock.now) <= clock.now {
        // The time of the next check could not be stored.
        await wait(BackgroundRule.retrySeconds)
      }
    }
  }

  /// Waits until a check is due; one that is overdue waits for a short random time.
  private func waitUntilDue() async throws {
    var due = store.state.schedule.due(at: clock.now)
    var hasWaited = false
    while clock.now < due {
      try await clock.sleep(
        until: min(due, clock.now.addingTimeInterval(BackgroundRule.stepSeconds)))
      hasWaited = true
      due = store.state.schedule.due(at: clock.now)
    }
    let isLate = clock.now.timeIntervalSince(due) > BackgroundRule.stepSeconds
    guard isLate || !hasWaited, store.state.schedule.next != nil else {
      return try Task.checkCancellation()
    }
    let jitter = Double(randomness.number(in: BackgroundRule.overdueJitterSeconds))
    try await clock.sleep(until: clock.now.addingTimeInterval(jitter))
  }

  private func wait(_ seconds: TimeInterval) async {
    try? await clock.sleep(until: clock.now.addingTimeInterval(seconds))
  }
}
