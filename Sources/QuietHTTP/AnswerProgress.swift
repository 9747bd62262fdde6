/// Whether a peer takes an answer that waits for it, judged by what is left each time it is looked at.
struct AnswerProgress {
  private var left: Int

  /// Begins with `waiting` bytes.
  init(waiting: Int) {
    left = waiting
  }

  /// Whether too little went since the last look, now that `waiting` bytes are left. More than there were
  /// is another part of the answer: the one before it has gone.
  mutating func hasStalled(waiting: Int) -> Bool {
    let taken = left - waiting
    left = waiting
    return (0..<QuietLimit.answerBytesMin).contains(taken)
  }
}
