import Synchronization
import World

/// The durations of the latest real responses of a route, or of one step, so that a decoy can take as
/// long.
///
/// Each decoy takes one recorded duration at random. A mean would vary too little and reveal decoys.
public final class ResponseTimes: Sendable {
  private let randomness: any Randomness
  private let latest = Mutex(Latest())

  private struct Latest {
    var times = LatestDurations(countMax: QuietLimit.responseTimesMax)
    /// The latest wake-up delays.
    var delays = LatestDurations(countMax: QuietLimit.wakeDelaysMax)
  }

  /// Creates an empty record.
  public init(randomness: any Randomness) {
    self.randomness = randomness
  }

  /// Records the duration of a real response and evicts the oldest one if there are too many.
  public func record(_ time: Duration) {
    latest.withLock { $0.times.append(time) }
  }

  /// A random recorded duration, or zero if there is none.
  func sample() -> Duration {
    let times = latest.withLock { $0.times.all }
    guard !times.isEmpty else { return .zero }
    let time = times[randomness.number(in: 0...(times.count - 1))]
    return min(time, .seconds(QuietLimit.decoySecondsMax))
  }

  /// Waits until a random recorded duration has passed since `start`.
  ///
  /// On a busy machine a task wakes up late by more than response times vary, which would reveal decoys.
  /// The wait is therefore shortened by the median of the latest wake-up delays.
  ///
  /// - Throws: `CancellationError`.
  public func wait(since start: ContinuousClock.Instant) async throws {
    let end = start + sample()
    let now = ContinuousClock.now
    guard end > now else { return }
    // The delay is measured even if it exceeds the remaining time. Otherwise no task would sleep after a
    // busy hour, and decoys would stay undelayed.
    let waking = max(end - medianDelay, now)
    try await Task.sleep(until: waking, clock: .continuous)
    recordDelay(ContinuousClock.now - waking)
  }

  /// The median of the latest wake-up delays.
  var medianDelay: Duration { latest.withLock { $0.delays.median } }

  func recordDelay(_ delay: Duration) {
    latest.withLock { $0.delays.append(delay) }
  }
}

/// A ring buffer of durations.
struct LatestDurations {
  /// The durations in no particular order.
  private(set) var all: [Duration] = []
  private let countMax: Int
  private var oldest = 0

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// Adds `duration` and evicts the oldest one if there are too many.
  mutating func append(_ duration: Duration) {
    if all.count < countMax {
      all.append(duration)
    } else {
      all[oldest] = duration
      oldest = (oldest + 1) % countMax
    }
  }

  /// The median, or zero if there is none.
  var median: Duration {
    all.isEmpty ? .zero : all.sorted()[all.count / 2]
  }
}
