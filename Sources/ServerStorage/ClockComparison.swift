import Foundation
import Synchronization
import World

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
