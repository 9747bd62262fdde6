/// Whether a peer takes the answers that wait for it, judged by what it has taken each time it is looked at.
struct AnswerProgress {
  /// Bytes that waited at the last look.
  private var owed: Int
  /// Bytes that the peer had taken by then, of all that were ever written to it.
  private var taken: Int

  /// Begins with `waiting` bytes of the `written`.
  init(written: Int, waiting: Int) {
    owed = waiting
    taken = written - waiting
  }

  /// Whether too little went since the last look, now that `waiting` bytes of the `written` are left: less
  /// than `QuietLimit.answerBytesMin`, and not all that was owed. What was written since then changes nothing:
  /// who asks for more does not take more.
  mutating func hasStalled(written: Int, waiting: Int) -> Bool {
    let least = min(owed, QuietLimit.answerBytesMin)
    let before = taken
    owed = waiting
    taken = written - waiting
    return taken - before < least
  }
}
