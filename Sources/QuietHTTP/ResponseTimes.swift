// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// The durations of the latest successful responses of a route, or of one step, so that other responses can
/// take as long.
///
/// A response that imitates a success takes one recorded duration at random. A mean would vary too little.
/// Every response is sent at a point of a grid, counted from its start. So the time shows neither small
/// differences in the work nor the wake-up delays of a busy machine.
public final class ResponseTimes: Sendable {
  private let randomness: any Randomness
  private let grid: Duration
  private let stopwatch: any Stopwatch
  private let successes = Mutex(LatestDurations(countMax: QuietLimit.responseTimesMax))

  /// The handling of a response's duration.
  public enum Kind: Sendable {
    /// A success, whose duration is recorded.
    case success
    /// A response that should look like a success: a decoy, a refusal, or a success without effect.
    case imitation
    /// A response that shows only the state of the server.
    case state
  }

  /// Creates an empty record with a grid of `gridMilliseconds`.
  public convenience init(
    randomness: any Randomness, gridMilliseconds: Int = QuietLimit.responseGridMilliseconds
  ) {
    self.init(
      randomness: randomness, gridMilliseconds: gridMilliseconds, stopwatch: SystemStopwatch())
  }

  /// Creates an empty record with another stopwatch, for tests.
  package init(
    randomness: any Randomness, gridMilliseconds: Int = QuietLimit.responseGridMilliseconds,
    stopwatch: any Stopwatch
  ) {
    self.randomness = randomness
    grid = .milliseconds(gridMilliseconds)
    self.stopwatch = stopwatch
  }

  /// The start of a response.
  public func start() -> Duration { stopwatch.elapsed }

  /// Waits until a response that began at `start`, and whose work is done, may be sent.
  ///
  /// - Throws: `CancellationError`.
  public func finish(_ start: Duration, as kind: Kind) async throws {
    let work = stopwatch.elapsed - start
    let duration =
      switch kind {
      case .success: work
      case .imitation: max(work, sample())
      case .state: work
      }
    if kind == .success { record(work) }
    try await stopwatch.sleep(until: start + nextPoint(from: duration))
  }

  /// The first point of the grid at or after `duration`.
  private func nextPoint(from duration: Duration) -> Duration {
    let points = Int((duration / grid).rounded(.up))
    return grid * max(1, points)
  }

  /// Records the duration of a success and evicts the oldest one if there are too many.
  func record(_ time: Duration) {
    successes.withLock { $0.append(time) }
  }

  /// A random recorded duration, or zero if there is none.
  package func sample() -> Duration {
    let times = successes.withLock { $0.all }
    guard !times.isEmpty else { return .zero }
    let time = times[randomness.number(in: 0...(times.count - 1))]
    return min(time, .seconds(QuietLimit.decoySecondsMax))
  }
}
