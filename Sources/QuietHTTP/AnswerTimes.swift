import Synchronization
import World

/// How long the latest real answers of a route took, so that a decoy takes as long as one of them; or
/// how long a step took, so that leaving it out cannot be told from doing it.
///
/// A mean would give decoys away by varying too little; one drawn from the real times does not.
public final class AnswerTimes: Sendable {
  private let randomness: any Randomness
  private let latest = Mutex(Latest())

  private struct Latest {
    var times = LatestDurations(countMax: QuietLimit.answerTimesMax)
    /// By how much sleepers woke up too late.
    var delays = LatestDurations(countMax: QuietLimit.wakingDelaysMax)
  }

  /// Times that are drawn by `randomness`.
  public init(randomness: any Randomness) {
    self.randomness = randomness
  }

  /// Keeps the time of one real answer, and forgets the oldest where there are many.
  public func remember(_ time: Duration) {
    latest.withLock { $0.times.append(time) }
  }

  /// The time of one real answer, each as likely; zero where there was none yet.
  func drawn() -> Duration {
    let times = latest.withLock { $0.times.all }
    guard !times.isEmpty else { return .zero }
    let time = times[randomness.number(in: 0...(times.count - 1))]
    return min(time, .seconds(QuietLimit.decoySecondsMax))
  }

  /// Returns when as much time has passed since `start` as one real answer took.
  ///
  /// A sleeper wakes up late, by more than an answer's time varies where the machine is busy. That would
  /// give decoys away, so it is to wake up earlier by as much as the latest ones usually were late.
  ///
  /// - Throws: `CancellationError`.
  public func wait(since start: ContinuousClock.Instant) async throws {
    let usualDelay = latest.withLock { $0.delays.median }
    let waking = start + drawn() - usualDelay
    guard waking > .now else { return }
    try await Task.sleep(until: waking, clock: .continuous)
    let delay = ContinuousClock.now - waking
    latest.withLock { $0.delays.append(delay) }
  }
}
