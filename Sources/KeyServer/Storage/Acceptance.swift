/// What became of an upload.
enum Acceptance: Hashable, Sendable {
  /// It is in, now or since earlier; this is the answer.
  case accepted(answer: String)
  /// The token has been used for another upload.
  case tokenUsed
}
