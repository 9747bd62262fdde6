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
    let end = start + drawn()
    let now = ContinuousClock.now
    guard end > now else { return }
    // Where the usual delay is longer than what is left it is measured all the same: after a busy hour
    // nobody would sleep any more, and decoys would be answered at once for good.
    let waking = max(end - usualDelay, now)
    try await Task.sleep(until: waking, clock: .continuous)
    rememberDelay(ContinuousClock.now - waking)
  }

  /// By how much a sleeper wakes up too late, as of late.
  var usualDelay: Duration { latest.withLock { $0.delays.median } }

  /// Keeps by how much one sleeper woke up too late.
  func rememberDelay(_ delay: Duration) {
    latest.withLock { $0.delays.append(delay) }
  }
}
