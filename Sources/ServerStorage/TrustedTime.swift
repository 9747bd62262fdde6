// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// The time by which a server deletes data, closes periods and expires used tokens: the system clock while it is
/// plausible.
///
/// A clock that is wrong for a moment would delete all data, close future periods, or expire used tokens that are
/// valid again after the correction. The time is therefore compared with the newest time in the database when the
/// server starts, and with the uptime while it runs. An operator can confirm a time that was rejected.
package struct TrustedTime: Sendable {
  private let comparison: ClockComparison
  private let record: @Sendable () async throws -> ClockRecord
  private let keep: @Sendable (Date) async throws -> Void

  /// - Parameters:
  ///   - record: Reads the times in the database.
  ///   - keep: Stores a time in the database as the newest one.
  package init(
    _ clock: any WallClock, record: @escaping @Sendable () async throws -> ClockRecord,
    keep: @escaping @Sendable (Date) async throws -> Void
  ) {
    comparison = ClockComparison(clock)
    self.record = record
    self.keep = keep
  }

  /// The current time.
  ///
  /// - Throws: `ImplausibleClock`, or the error of the database.
  package func now() async throws -> Date {
    let record = try await record()
    let now = try comparison.time(record)
    let age = record.newest.map { abs(now.timeIntervalSince($0)) }
    if age ?? .infinity >= TrustedTimeLimit.storedAgainSeconds { try await keep(now) }
    return now
  }

  /// The parts of the server that its store and its clock show to fail: `database` if a transaction cannot be written,
  /// `clock` if the time is not plausible.
  package func failingParts() async -> [ServerHealth.Part] {
    do {
      _ = try await now()
      // Stored again unchanged, because a full disk and a read-only server fail only at a write.
      if let newest = try await record().newest { try await keep(newest) }
      return []
    } catch is ImplausibleClock {
      return [.clock]
    } catch {
      return [.database]
    }
  }
}

/// The times in the database of a server.
package struct ClockRecord: Hashable, Sendable {
  /// The newest time at which the server ran with a plausible clock.
  package var newest: Date?
  /// The last time that an operator confirmed.
  package var confirmed: Date?

  package init(newest: Date? = nil, confirmed: Date? = nil) {
    self.newest = newest
    self.confirmed = confirmed
  }

  /// The seconds by which a clock is ahead of the newest time or behind it; nil if that is plausible at a start.
  package func implausibleGap(to time: Date, after seconds: TimeInterval = 0) -> TimeInterval? {
    guard let newest else { return nil }
    let gap = time.timeIntervalSince(newest)
    let plausible =
      -TrustedTimeLimit.driftSecondsMax...TrustedTimeLimit.pauseSecondsMax + seconds
    return plausible.contains(gap) ? nil : gap
  }
}

/// A clock that was set, or that differs too much from the newest time in the database.
package struct ImplausibleClock: Error, Hashable, Sendable, CustomStringConvertible {
  /// The time that the clock shows.
  package let time: Date
  /// The seconds by which it is ahead of the expected time, or behind it if negative.
  package let seconds: TimeInterval

  package var description: String {
    """
    The clock shows \(time), \(Int(abs(seconds))) seconds \(seconds < 0 ? "before" : "after") the expected time: \
    nothing is published, deleted or forgotten. Correct the clock, or confirm it with `firebreak clock --confirm`.
    """
  }
}

/// Compares the system clock with the uptime, and once after the start with the newest time in the database.
final class ClockComparison: Sendable {
  private struct State {
    /// The last reading with a plausible time; before the first comparison, the reading at the start.
    var anchor: ClockReading
    /// True when the anchor was compared with the database.
    var isTrusted = false
  }

  private let clock: any WallClock
  private let state: Mutex<State>

  init(_ clock: any WallClock) {
    self.clock = clock
    state = Mutex(State(anchor: clock.reading))
  }

  /// The current time.
  ///
  /// - Parameter record: The times in the database.
  func time(_ record: ClockRecord) throws(ImplausibleClock) -> Date {
    let reading = clock.reading
    let fault = state.withLock { state -> ImplausibleClock? in
      guard let seconds = Self.fault(reading, &state, record) else { return nil }
      // A confirmed time becomes the new anchor.
      guard let confirmed = record.confirmed,
        abs(reading.time.timeIntervalSince(confirmed)) <= TrustedTimeLimit.driftSecondsMax
      else { return ImplausibleClock(time: reading.time, seconds: seconds) }
      state = State(anchor: reading, isTrusted: true)
      return nil
    }
    if let fault { throw fault }
    return reading.time
  }

  /// The seconds by which the clock is wrong; nil if it is plausible.
  private static func fault(
    _ reading: ClockReading, _ state: inout State, _ record: ClockRecord
  ) -> TimeInterval? {
    let elapsed = reading.uptime - state.anchor.uptime
    if !state.isTrusted {
      // Without a trusted time, the clock may have been corrected since the start.
      if let gap = record.implausibleGap(to: reading.time, after: elapsed) { return gap }
      if record.implausibleGap(to: state.anchor.time) != nil { state.anchor = reading }
      state.isTrusted = true
    }
    let drift =
      reading.time.timeIntervalSince(state.anchor.time) - (reading.uptime - state.anchor.uptime)
    return abs(drift) <= TrustedTimeLimit.driftSecondsMax ? nil : drift
  }
}

/// The limits of trust in a server's clock.
package enum TrustedTimeLimit {
  /// The largest difference in seconds between the progress of the system clock and the uptime.
  package static let driftSecondsMax: TimeInterval = 3_600
  /// The longest time in seconds between two runs of a server that needs no confirmation: used tokens are kept
  /// this much longer than they are valid.
  package static let pauseSecondsMax: TimeInterval = 86_400
  /// The age in seconds at which the newest time is stored again.
  package static let storedAgainSeconds: TimeInterval = 600
}
