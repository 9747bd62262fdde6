// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The clock of this machine.
public struct SystemClock: WallClock {
  /// Creates the clock.
  public init() {}

  public var now: Date { Date() }

  public var reading: ClockReading {
    var uptime = timespec()
    clock_gettime(CLOCK_BOOTTIME, &uptime)
    return ClockReading(
      time: Date(),
      uptime: TimeInterval(uptime.tv_sec) + TimeInterval(uptime.tv_nsec) / 1_000_000_000)
  }

  /// The time of `CLOCK_MONOTONIC` in microseconds, which systemd compares with its own.
  package static var monotonicMicroseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  public func sleep(until deadline: Date) async throws {
    // The clock may be set during the sleep, so compare again until the deadline has passed.
    while true {
      let remaining = deadline.timeIntervalSince(now)
      guard remaining > 0 else { return }
      try await Task.sleep(for: .seconds(min(remaining, Self.longestSleepSeconds)))
    }
  }

  public func sleep(for seconds: TimeInterval) async throws {
    guard seconds > 0 else { return }
    try await Task.sleep(for: .seconds(seconds))
  }

  /// The longest delay of a wake-up after the clock was set.
  private static let longestSleepSeconds: TimeInterval = 60
}
