// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TextEncodings
import World

/// The time of a rehearsal, which many processes share: real time, faster time, or a jump to tomorrow.
///
/// One process writes the file with a `RehearsalClockFile`. In all others it moves a `SimulatedClock`, whose monotonic
/// time is its own: a jump counts as elapsed time and not as a change of the clock (Documentation/Decisions/0030).
package final class RehearsalTime: SimulatedTimeSource {
  private struct State {
    var version: FileVersion?
    var face: ClockState
  }

  private let file: URL
  private let machine: any WallClock
  private let state: Mutex<State>

  /// Reads the clock in `file`.
  ///
  /// - Throws: `RehearsalClockError` if the file is not that of a clock.
  package init(file: URL, machine: any WallClock = SystemClock()) throws(RehearsalClockError) {
    self.file = file
    self.machine = machine
    guard let face = ClockState(at: file) else { throw .unreadable(file.path) }
    state = Mutex(State(face: face))
  }

  package var now: Date { face.time(at: machine.reading.uptime) }

  package func pause(until deadline: Date) async throws {
    let face = face
    let remaining = deadline.timeIntervalSince(face.time(at: machine.reading.uptime))
    let seconds = face.rate > 0 ? remaining / face.rate : .infinity
    try await machine.sleep(
      for: min(
        max(seconds, RehearsalClockLimit.shortestSleepSeconds), RehearsalClockLimit.pollingSeconds))
  }

  /// The content of the file, which is read if it has changed. A damaged file leaves it as it was.
  private var face: ClockState {
    state.withLock { state in
      if let version = FileVersion(path: file.path), version != state.version,
        let face = ClockState(at: file)
      {
        (state.version, state.face) = (version, face)
      }
      return state.face
    }
  }
}

/// The content of the file: the simulated time at a moment of the machine's monotonic clock, and its rate.
struct ClockState: Codable, Hashable {
  /// The moment, in seconds of `ClockReading.uptime`, which all processes of the machine share.
  var uptime: TimeInterval
  /// The simulated time at that moment, in Unix seconds.
  var time: TimeInterval
  /// Simulated seconds per second.
  var rate: Double
  /// Seconds after the moment for which the clock runs. Then it stands still until it is renewed: the writer may have
  /// ended, and a later writer continues from there.
  var leaseSeconds: TimeInterval

  init(uptime: TimeInterval, time: TimeInterval, rate: Double, leaseSeconds: TimeInterval) {
    self.uptime = uptime
    self.time = time
    self.rate = rate
    self.leaseSeconds = leaseSeconds
  }

  /// The face in `file`; `nil` if the file is missing or has values that no writer stores.
  init?(at file: URL) {
    guard let data = FileManager.default.contents(atPath: file.path),
      data.count <= RehearsalClockLimit.fileBytesMax,
      let face = JSONDecoder().decodeIfValid(ClockState.self, from: data),
      RehearsalClockLimit.rates.contains(face.rate),
      (0...RehearsalClockLimit.leaseSeconds).contains(face.leaseSeconds)
    else { return nil }
    self = face
  }

  /// The simulated time.
  func time(at uptime: TimeInterval) -> Date {
    let passed = min(max(uptime - self.uptime, 0), leaseSeconds)
    return Date(timeIntervalSince1970: time + passed * rate)
  }

  /// The time at which the clock stands still without a renewal.
  var end: Date { time(at: .infinity) }
}

/// The reason why a rehearsal's clock cannot be used.
package enum RehearsalClockError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no file, or its content is not that of a clock.
  case unreadable(String)
  /// The file cannot be written.
  case unwritable(String)

  package var description: String {
    switch self {
    case .unreadable(let path):
      "\(path) is not the clock of a rehearsal: `firebreak up` creates it; use --fresh to start over."
    case .unwritable(let path): "\(path) cannot be written: check the disk and the folder."
    }
  }
}

/// Limits of a rehearsal's clock.
package enum RehearsalClockLimit {
  /// Simulated seconds per second; 0 stands still.
  package static let rates: ClosedRange<Double> = 0...600
  /// The longest jump in seconds. Phones and servers do not trust a clock that was set by more than a day.
  package static let jumpSecondsMax: TimeInterval = 86_400
  /// Seconds after which a clock without a renewal stands still.
  package static let leaseSeconds: TimeInterval = 2
  /// The interval of renewals, in seconds.
  package static let renewalSeconds: TimeInterval = 0.5
  /// The longest delay in seconds until a sleeper notices a jump.
  package static let pollingSeconds: TimeInterval = 0.25
  /// The shortest sleep in seconds.
  package static let shortestSleepSeconds: TimeInterval = 0.001
  /// The size of the file.
  package static let fileBytesMax = 1_024
}
