import Foundation
import Logging
import World

extension ExposureApp {
  /// The identifier of the app's background task.
  public nonisolated var backgroundIdentifier: String {
    configuration.appPackageName + BackgroundRequest.suffix
  }

  /// Runs one background check.
  ///
  /// It first schedules the next run. If the time of `run` expires, the check is cancelled. The run is
  /// reported as successful only if the check was complete.
  @discardableResult
  public func backgroundCheck(_ run: any BackgroundRun) async -> CheckOutcome {
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
      earliest: clock.now.addingTimeInterval(BackgroundRule.checkSeconds), needsNetwork: true)
    do {
      try scheduler.schedule(request)
    } catch {
      logger.error("scheduling the next check failed", metadata: ["error": "\(error)"])
    }
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
  /// The longest time until a check, in seconds: a server may set `Retry-After` to a day.
  public static let waitSecondsMax: TimeInterval = 25 * 3_600
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
