// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Synchronization
import World

/// A part of the secrets or the settings that may change while the server runs. It is read again at the first use after
/// the file was replaced. If it cannot be read, the previous value stays in use.
final class RereadFile<Value: Sendable>: Sendable {
  /// The name in the log.
  private let name: String
  /// The file that the operator must check.
  private let file: String
  private let read: (@Sendable () throws -> Value)?
  private let version: (@Sendable () -> FileVersion?)?
  private let clock: any WallClock
  private let logger: Logger?
  private let latest: Mutex<(value: Value, readAt: Date, version: FileVersion?)>

  /// - Parameters:
  ///   - read: Reads the value again; nil if it does not change.
  ///   - version: The present version of the file; nil if it is not known.
  init(
    _ first: Value, name: String, file: String = "secrets file",
    read: (@Sendable () throws -> Value)?,
    version: (@Sendable () -> FileVersion?)? = nil, clock: any WallClock, logger: Logger? = nil
  ) {
    self.name = name
    self.file = file
    self.read = read
    self.version = version
    self.clock = clock
    self.logger = logger
    // The file may have been replaced since the first value was read.
    latest = Mutex((first, clock.now, nil))
  }

  /// The value of the present version of the file; without a version, at most
  /// `VerificationLimit.signingKeysAgeSecondsMax` old.
  var value: Value {
    // Before the file is read: if it is replaced meanwhile, it is read once more.
    let (now, version) = (clock.now, version?())
    guard let read, isOld(version, at: now) else { return latest.withLock { $0.value } }
    do {
      let new = try read()
      latest.withLock { $0 = (new, now, version) }
    } catch {
      logger?.warning(
        "reading the \(name) failed: the previous ones stay in use; check the \(file)",
        metadata: ["cause": "\(ErrorCause.text(error))"])
      latest.withLock { ($0.readAt, $0.version) = (now, version) }
    }
    return latest.withLock { $0.value }
  }

  private func isOld(_ version: FileVersion?, at now: Date) -> Bool {
    let (readAt, known) = latest.withLock { ($0.readAt, $0.version) }
    let age = now.timeIntervalSince(readAt)
    return version != known || age < 0 || age >= VerificationLimit.signingKeysAgeSecondsMax
  }
}
