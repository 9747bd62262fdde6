import World

/// How long the latest real answers of a route took, so that a decoy takes as long as one of them; or
/// how long a step took, so that leaving it out cannot be told from doing it.
///
/// A mean would give decoys away by varying too little; one drawn from the real times does not.
public actor AnswerTimes {
  private let randomness: any Randomness
  private var times: [Duration] = []
  private var next = 0

  /// Times that are drawn by `randomness`.
  public init(randomness: any Randomness) {
    self.randomness = randomness
  }

  /// Keeps the time of one real answer, and forgets the oldest where there are many.
  public func remember(_ time: Duration) {
    if times.count < QuietLimit.answerTimesMax {
      times.append(time)
    } else {
      times[next] = time
      next = (next + 1) % QuietLimit.answerTimesMax
    }
  }

  /// The time of one real answer, each as likely; zero where there was none yet.
  public func drawn() -> Duration {
    guard !times.isEmpty else { return .zero }
    let time = times[randomness.number(in: 0...(times.count - 1))]
    return min(time, .seconds(QuietLimit.decoySecondsMax))
  }
}
