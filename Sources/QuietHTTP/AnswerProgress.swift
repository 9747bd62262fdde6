/// Whether a peer takes the answers that wait for it, judged by what it has taken each time it is looked at.
struct AnswerProgress {
  /// How often it is looked at in `QuietLimit.answerSecondsMax`: by such a part later it may be found out.
  static let looks = 4

  /// What was owed and what had been taken at the latest looks, the oldest first.
  private var seen: [(owed: Int, taken: Int)] = []

  /// Whether anything is owed since the last look.
  var isOwed: Bool { seen.last.map { $0.owed > 0 } ?? false }

  /// Looks: whether too little went in the latest `looks` of them, now that the peer has taken `taken` of all the
  /// bytes that were ever `written`: less than `QuietLimit.answerBytesMin`, and not all that was owed. What was
  /// written since then changes nothing: who asks for more does not take more.
  mutating func hasStalled(written: Int, taken: Int) -> Bool {
    seen.append((written - taken, taken))
    guard seen.count > Self.looks else { return false }
    let before = seen.removeFirst()
    return taken - before.taken < min(before.owed, QuietLimit.answerBytesMin)
  }
}
