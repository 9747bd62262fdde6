// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Synchronization
import World

/// A part of the secrets file that may change while the server runs. If it cannot be read again, the previous value
/// stays in use.
final class RereadSecret<Value: Sendable>: Sendable {
  /// The name in the log.
  private let name: String
  private let read: (@Sendable () throws -> Value)?
  private let clock: any WallClock
  private let logger: Logger?
  private let latest: Mutex<(value: Value, readAt: Date)>

  /// - Parameter read: Reads the value again; nil if it does not change.
  init(
    _ first: Value, name: String, read: (@Sendable () throws -> Value)?, clock: any WallClock,
    logger: Logger? = nil
  ) {
    self.name = name
    self.read = read
    self.clock = clock
    self.logger = logger
    latest = Mutex((first, clock.now))
  }

  /// The value, at most `VerificationLimit.signingKeysAgeSecondsMax` old.
  var value: Value {
    let now = clock.now
    guard let read, isOld(at: now) else { return latest.withLock { $0.value } }
    do {
      let new = try read()
      latest.withLock { $0 = (new, now) }
    } catch {
      logger?.warning(
        "reading the \(name) failed: the previous ones stay in use; check the secrets file",
        metadata: ["cause": "\(ErrorCause.text(error))"])
      latest.withLock { $0.readAt = now }
    }
    return latest.withLock { $0.value }
  }

  private func isOld(at now: Date) -> Bool {
    let age = now.timeIntervalSince(latest.withLock { $0.readAt })
    return age < 0 || age >= VerificationLimit.signingKeysAgeSecondsMax
  }
}
