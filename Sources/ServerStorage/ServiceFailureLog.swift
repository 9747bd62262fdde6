// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServerMetrics
import Synchronization
import World

/// The failures of a service that a server calls, such as an SMS gateway: one log line when it begins to fail, when it
/// fails in another way, and while it keeps failing. A service whose answers differ each time gets few lines, with the
/// number of failures since the last one.
package final class ServiceFailureLog: Sendable {
  private struct Failure {
    /// The texts that were logged since `begin`.
    var texts: Set<String> = []
    let begin: Date
    /// The failures that were not logged.
    var unlogged = 0
  }

  private struct State {
    var failures: [String: Failure] = [:]
    var window: Int64
    /// The number of failing parts at the end of the last window.
    var shown = 0

    /// Ends the current window if `window` is another one, also after the clock was set back.
    mutating func begin(_ window: Int64) {
      guard window != self.window else { return }
      (self.window, shown) = (window, failures.count)
    }
  }

  /// The interval at which a failure that persists is logged again, in seconds.
  package static let repeatSeconds: TimeInterval = 600
  /// The number of different failures of a part that are logged in an interval.
  package static let textsMax = 3
  /// The number of failing parts that are kept. Further ones share one record.
  private static let partsMax = 1_000
  private static let otherParts = "other parts"

  private let name: String
  private let advice: String
  private let clock: any WallClock
  private let logger: Logger
  private let state: Mutex<State>

  /// - Parameters:
  ///   - name: The name of the service in the log, such as `SMS gateway`.
  ///   - advice: The remedy that the operator can try, as a clause.
  package init(name: String, advice: String, clock: any WallClock, logger: Logger) {
    self.name = name
    self.advice = advice
    self.clock = clock
    self.logger = logger
    state = Mutex(State(window: Self.window(at: clock.now)))
  }

  /// Records that a request has failed.
  ///
  /// - Parameters:
  ///   - failure: The answer of the service or the system's error, without personal data.
  ///   - part: The part of the service, such as the name of an authority.
  package func failed(_ failure: String, part: String = "") {
    let now = clock.now
    let unlogged = state.withLock { state in
      state.begin(Self.window(at: now))
      let isKnown = state.failures[part] != nil || state.failures.count < Self.partsMax
      return Self.record(failure, in: &state.failures[isKnown ? part : Self.otherParts], at: now)
    }
    guard let unlogged else { return }
    let others = unlogged > 0 ? "; \(unlogged) more failures since the last line" : ""
    logger.error("the \(title(part)) failed: \(failure)\(others); \(advice)")
  }

  /// Returns the number of failures that were not logged before this one, or nil if it is not logged either.
  private static func record(_ text: String, in record: inout Failure?, at now: Date) -> Int? {
    var failure = record ?? Failure(begin: now)
    if abs(now.timeIntervalSince(failure.begin)) >= repeatSeconds {
      failure = Failure(begin: now, unlogged: failure.unlogged)
    }
    let isDue = !failure.texts.contains(text) && failure.texts.count < textsMax
    let unlogged = failure.unlogged
    if isDue { failure.texts.insert(text) }
    failure.unlogged = isDue ? 0 : unlogged + 1
    record = failure
    return isDue ? unlogged : nil
  }

  /// Records that a request has succeeded.
  package func succeeded(part: String = "") {
    let window = Self.window(at: clock.now)
    let ended = state.withLock { state in
      state.begin(window)
      return state.failures.removeValue(forKey: part)
    }
    guard ended != nil else { return }
    logger.notice("the \(title(part)) works again")
  }

  /// The number of parts whose last request failed, at the end of the last window of ten minutes. The number of this
  /// moment would tell when a single text message failed, and when the next one did not.
  package var failingCount: Int {
    let window = Self.window(at: clock.now)
    return state.withLock { state in
      state.begin(window)
      return state.shown
    }
  }

  private static func window(at now: Date) -> Int64 {
    now.unixSecond / Int64(CoarseCounts.windowSeconds)
  }

  private func title(_ part: String) -> String { part.isEmpty ? name : "\(name) of \(part)" }
}
