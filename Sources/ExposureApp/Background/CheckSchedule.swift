// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
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
      ? min(BackgroundRule.retrySeconds * Double(1 << (failures - 1)), BackgroundRule.checkSeconds)
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
    case .noConnection, .certificate, .certificateOutOfDate, .portal, .notFound, .tooLarge,
      .serverBusy, .invalidIndex, .timeIsUp, .detectionFailed, .systemSilent, .clockWrong,
      .diskFailed:
      return true
    default: return false
    }
  }
}

extension ExposureApp {
  /// Runs checks on schedule until the task is cancelled, and finishes interrupted uploads.
  ///
  /// A check that was due while the phone slept or the program was not running is run once, soon after
  /// resuming. The wait polls the clock, so that a clock change is noticed.
  public func runSchedule() async {
    await continueUploads()
    while !Task.isCancelled {
      do { try await waitUntilDue() } catch { return }
      _ = await check()
      if context.state.schedule.due(at: context.now) <= context.now {
        // The time of the next check could not be stored.
        await wait(BackgroundRule.retrySeconds)
      }
    }
  }

  /// Waits until a check is due; one that is overdue waits for a short random time.
  private func waitUntilDue() async throws {
    var due = context.state.schedule.due(at: context.now)
    var hasWaited = false
    while context.now < due {
      // Not until a time: the clock may be set back meanwhile.
      try await context.clock.sleep(
        for: min(due.timeIntervalSince(context.now), BackgroundRule.stepSeconds))
      hasWaited = true
      await continueUploads()
      if await isClockRightAgain() { return try Task.checkCancellation() }
      due = context.state.schedule.due(at: context.now)
    }
    let isLate = context.now.timeIntervalSince(due) > BackgroundRule.stepSeconds
    guard isLate || !hasWaited, context.state.schedule.next != nil else {
      return try Task.checkCancellation()
    }
    let jitter = Double(context.randomness.number(in: BackgroundRule.overdueJitterSeconds))
    try await context.clock.sleep(until: context.now.addingTimeInterval(jitter))
  }

  /// Compares a wrong clock again, when it was set or after a while.
  ///
  /// - Returns: True if it is right now, so that a check is due.
  private func isClockRightAgain() async -> Bool {
    guard context.isClockWrong else {
      lastClockComparison = nil
      return false
    }
    let reading = context.clock.reading
    guard let last = lastClockComparison else {
      lastClockComparison = reading
      return false
    }
    let passed = reading.uptime - last.uptime
    let step = reading.time.timeIntervalSince(last.time) - passed
    guard
      abs(step) > BackgroundRule.clockStepSeconds
        || passed >= BackgroundRule.wrongClockComparisonSeconds
    else { return false }
    lastClockComparison = reading
    await configuration.compareClock()
    return !context.isClockWrong
  }

  private func wait(_ seconds: TimeInterval) async {
    await context.clock.sleepUnlessCancelled(until: context.now.addingTimeInterval(seconds))
  }
}

/// The schedule of background runs.
public enum BackgroundRule {
  /// The interval between two checks, in seconds. The key server publishes every four hours, and six
  /// checks a day stay within the framework's quota.
  public static let checkSeconds: TimeInterval = 4 * 3_600
  /// The interval before the first retry of a failed check, in seconds; it doubles with each failure.
  public static let retrySeconds: TimeInterval = 15 * 60
  /// The number of failures in a row after which the interval does not grow any more.
  public static let failuresMax = 5
  /// The jitter that is added to each interval, in seconds, so that phones do not send requests at the same time.
  public static let jitterSeconds = 0...120
  /// The random delay of an overdue check, in seconds.
  public static let overdueJitterSeconds = 1...30
  /// The polling interval of the clock during a wait, in seconds.
  public static let stepSeconds: TimeInterval = 60
  /// The interval between two comparisons of a wrong clock, in seconds.
  public static let wrongClockComparisonSeconds: TimeInterval = 15 * 60
  /// The difference between wall clock and uptime, in seconds, from which the clock counts as set.
  static let clockStepSeconds: TimeInterval = 60
  /// The longest time until a check, in seconds: a server may set `Retry-After` to a day.
  public static let waitSecondsMax: TimeInterval = 25 * 3_600
}

extension ExposureApp {
  /// Runs one background check.
  ///
  /// It first schedules the next run. If the time of `run` expires, the check is cancelled. The run is
  /// reported as successful only if the check was complete.
  @discardableResult public func backgroundCheck(_ run: any BackgroundRun) async -> CheckOutcome {
    scheduleNextCheck()
    let work = Task { await check() }
    run.setExpirationHandler { work.cancel() }
    let outcome = await work.value
    run.complete(success: outcome.isSuccess)
    return outcome
  }

  /// Schedules the next check.
  func scheduleNextCheck() {
    let request = BackgroundRequest(
      identifier: backgroundIdentifier,
      earliest: context.now.addingTimeInterval(BackgroundRule.checkSeconds), needsNetwork: true)
    do { try scheduler.schedule(request) } catch {
      context.logger.error("scheduling the next check failed", metadata: ["error": "\(error)"])
    }
  }
}

/// The system's scheduler of background runs.
public protocol BackgroundScheduler: Sendable {
  /// Requests one run; a pending request with the same identifier is replaced.
  ///
  /// - Throws: If the system does not accept requests at the moment.
  func schedule(_ request: BackgroundRequest) throws
}

/// A request for a background run.
public struct BackgroundRequest: Sendable, Hashable {
  /// The identifier suffix of exposure checks; the system grants such runs more time.
  public static let suffix = ".exposure-notification"

  /// The identifier of the task.
  public let identifier: String
  /// The earliest time of the run.
  public let earliest: Date
  /// True if the run needs a network connection.
  public let needsNetwork: Bool

  /// Creates a request.
  public init(identifier: String, earliest: Date, needsNetwork: Bool) {
    self.identifier = identifier
    self.earliest = earliest
    self.needsNetwork = needsNetwork
  }
}

/// A background run that the system has granted.
public protocol BackgroundRun: Sendable {
  /// Sets the handler that is called once when the time expires; at once if it has expired already.
  func setExpirationHandler(_ handler: @escaping @Sendable () -> Void)
  /// Ends the run and reports its result; call it once.
  func complete(success: Bool)
}
