import Foundation

/// The clock on the wall of this machine.
public struct SystemClock: WallClock {
  /// The clock of the process.
  public init() {}

  public var now: Date { Date() }

  public func sleep(until deadline: Date) async throws {
    // The wall clock may be set while we sleep, so look again until the deadline has really come.
    while true {
      let remaining = deadline.timeIntervalSince(now)
      guard remaining > 0 else { return }
      try await Task.sleep(for: .seconds(min(remaining, Self.longestSleepSeconds)))
    }
  }

  /// How long a sleeper may be wrong after somebody set the clock.
  private static let longestSleepSeconds: TimeInterval = 60
}
