// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import Synchronization
import TextEncodings
import World

/// The device's `RetentionClock`, stored so that a restart during a jump of the clock removes nothing.
final class Retention: Sendable {
  private struct State {
    var clock = RetentionClock()
    /// The clock on the disk; nil if there is none.
    var stored: RetentionClock?
    /// The error of the device's clock; nil while none is known.
    var error: ClockError?
    /// The uptime of the last reading; nil before the first since the start.
    var uptime: TimeInterval?
  }

  private let file: SealedFile
  private let clock: any WallClock
  private let logger: Logger
  private let state: Mutex<State>

  /// Reads the stored clock. Without it, no time is trusted until one has persisted.
  init(file: SealedFile, clock: any WallClock, reports: DamageReports, logger: Logger) {
    self.file = file
    self.clock = clock
    self.logger = logger
    let stored = Self.storedClock(in: file, reports: reports, logger: logger)
    state = Mutex(State(clock: stored ?? RetentionClock(), stored: stored))
  }

  /// Takes the reading `now` and returns the data to keep.
  func period(at now: Date) -> RetentionPeriod {
    state.withLock { state in
      let uptime = clock.reading.uptime
      state.clock.read(now, passed: state.uptime.map { uptime - $0 }, with: state.error)
      state.uptime = uptime
      save(&state)
      return state.clock.period(at: now, with: state.error)
    }
  }

  /// Sets the known error of the device's clock; nil if it is right, or nothing is known.
  func setClockError(_ error: ClockError?) { state.withLock { $0.error = error } }

  /// Stores the state. If that fails and the process ends, the device keeps data longer, never shorter.
  private func save(_ state: inout State) {
    let clock = state.clock
    if let stored = state.stored,
      !clock.differs(from: stored, byMoreThan: ClockLimit.storedAgainSeconds)
    {
      return
    }
    do throws(SealedStorageError) {
      guard let content = JSONEncoder().encodeIfPossible(clock) else { return }
      try file.replace(with: content)
      state.stored = clock
    } catch {
      logger.warning("the trusted time could not be stored: \(error); will try again")
    }
  }

  private static func storedClock(
    in file: SealedFile, reports: DamageReports, logger: Logger
  ) -> RetentionClock? {
    do throws(SealedStorageError) {
      return try file.read().flatMap { JSONDecoder().decodeIfValid(RetentionClock.self, from: $0) }
    } catch {
      logger.warning("the stored trusted time could not be read: \(error); old data stays longer")
      if error == .damaged { reports.setAside(file, .retentionClock) }
      return nil
    }
  }
}

extension RetentionPeriod {
  /// Tomorrow counts, because clocks differ. Without a trusted time every day is kept.
  func keeps(_ day: Day) -> Bool {
    times.isEmpty || times.contains { day.isKept(on: Day(of: $0)) }
  }

  /// True if `date` is at most 14 days before one of the times, to the second, and at most a day after it, or after all
  /// of them: then the clock was ahead at `date`.
  func keeps(since date: Date) -> Bool {
    let seconds = Double(DeviceLimit.retentionDays) * Day.seconds
    return keeps(date, forSeconds: seconds)
      || times.allSatisfy { $0.timeIntervalSince(date) < -ClockLimit.stepSeconds }
  }
}
