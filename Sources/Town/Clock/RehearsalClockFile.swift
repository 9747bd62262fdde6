// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// The file of a rehearsal's clock, for the one process that sets it.
///
/// While no process renews it, the clock stands still. So a rehearsal that is continued a week later has lost no time,
/// and servers see no gap.
package final class RehearsalClockFile: Sendable {
  private let file: URL
  private let machine: any WallClock
  private let face: Mutex<ClockState>

  /// Continues the clock in `file` in real time, or starts one at `start`.
  ///
  /// - Throws: `RehearsalClockError` if the file exists and is not that of a clock, or cannot be written.
  package init(
    at file: URL, startingAt start: Date, machine: any WallClock = SystemClock()
  ) throws(RehearsalClockError) {
    self.file = file
    self.machine = machine
    var time = start
    if FileManager.default.fileExists(atPath: file.path) {
      guard let last = ClockState(at: file) else { throw .unreadable(file.path) }
      time = last.end
    }
    face = Mutex(
      ClockState(
        uptime: machine.reading.uptime, time: time.timeIntervalSince1970, rate: 1,
        leaseSeconds: RehearsalClockLimit.leaseSeconds))
    try change { _ in }
  }

  /// The simulated time.
  package var now: Date { face.withLock { $0.time(at: machine.reading.uptime) } }

  /// Simulated seconds per second.
  package var rate: Double { face.withLock { $0.rate } }

  /// Sets the rate; one outside `RehearsalClockLimit.rates` becomes the nearest in it.
  package func run(at rate: Double) throws(RehearsalClockError) {
    let rates = RehearsalClockLimit.rates
    try change { $0.rate = min(max(rate, rates.lowerBound), rates.upperBound) }
  }

  /// Jumps ahead by `seconds`, at most by `RehearsalClockLimit.jumpSecondsMax`. The clock never goes back.
  package func jump(by seconds: TimeInterval) throws(RehearsalClockError) {
    try change { $0.time += min(max(seconds, 0), RehearsalClockLimit.jumpSecondsMax) }
  }

  /// Jumps to the next 08:00 UTC of another day, or by a day if that is further.
  package func jumpToTomorrow() throws(RehearsalClockError) {
    try change { face in
      let tomorrow =
        (face.time / Self.daySeconds).rounded(.down) * Self.daySeconds + Self.daySeconds
      let target = tomorrow + Self.morningSeconds
      face.time = min(target, face.time + RehearsalClockLimit.jumpSecondsMax)
    }
  }

  /// Renews the clock until the task is cancelled, then lets it stand still at once.
  ///
  /// - Throws: `RehearsalClockError` if the file cannot be written.
  package func run() async throws {
    while !Task.isCancelled {
      try change { _ in }
      do { try await machine.sleep(for: RehearsalClockLimit.renewalSeconds) } catch { break }
    }
    try change { $0.leaseSeconds = 0 }
  }

  /// Writes a face that starts now, with a change. It continues from the time that readers see.
  private func change(
    _ change: (inout ClockState) -> Void
  ) throws(RehearsalClockError) {
    let isWritten = face.withLock { face in
      let uptime = machine.reading.uptime
      face = ClockState(
        uptime: uptime, time: face.time(at: uptime).timeIntervalSince1970, rate: face.rate,
        leaseSeconds: RehearsalClockLimit.leaseSeconds)
      change(&face)
      return write(face)
    }
    guard isWritten else { throw .unwritable(file.path) }
  }

  /// Replaces the file atomically. It is not synced, because it is written twice a second.
  private func write(_ face: ClockState) -> Bool {
    let new = file.appendingPathExtension("new")
    do {
      try JSONEncoder().encode(face).write(to: new)
    } catch {
      return false
    }
    return rename(new.path, file.path) == 0
  }

  private static let daySeconds: TimeInterval = 86_400
  private static let morningSeconds: TimeInterval = 8 * 3_600
}
