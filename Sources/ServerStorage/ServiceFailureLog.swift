// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import World

/// The failures of a service that a server calls, such as an SMS gateway: one log line when it begins to fail, when it
/// fails in another way, and while it keeps failing.
package final class ServiceFailureLog: Sendable {
  private struct Failure {
    let text: String
    let loggedAt: Date
  }

  /// The interval at which a failure that persists is logged again, in seconds.
  package static let repeatSeconds: TimeInterval = 600
  /// The number of failing parts that are kept. The line of a further one is logged every time.
  private static let partsMax = 1_000

  private let name: String
  private let advice: String
  private let clock: any WallClock
  private let logger: Logger
  private let failures = Mutex<[String: Failure]>([:])

  /// - Parameters:
  ///   - name: The name of the service in the log, such as `SMS gateway`.
  ///   - advice: The remedy that the operator can try, as a clause.
  package init(name: String, advice: String, clock: any WallClock, logger: Logger) {
    self.name = name
    self.advice = advice
    self.clock = clock
    self.logger = logger
  }

  /// Records that a request has failed.
  ///
  /// - Parameters:
  ///   - failure: The answer of the service or the system's error, without personal data.
  ///   - part: The part of the service, such as the name of an authority.
  package func failed(_ failure: String, part: String = "") {
    let now = clock.now
    let isDue = failures.withLock { failures in
      if let last = failures[part], last.text == failure,
        abs(now.timeIntervalSince(last.loggedAt)) < Self.repeatSeconds
      {
        return false
      }
      if failures[part] != nil || failures.count < Self.partsMax {
        failures[part] = Failure(text: failure, loggedAt: now)
      }
      return true
    }
    guard isDue else { return }
    logger.error("the \(title(part)) failed: \(failure); \(advice)")
  }

  /// Records that a request has succeeded.
  package func succeeded(part: String = "") {
    guard failures.withLock({ $0.removeValue(forKey: part) }) != nil else { return }
    logger.notice("the \(title(part)) works again")
  }

  private func title(_ part: String) -> String { part.isEmpty ? name : "\(name) of \(part)" }
}
