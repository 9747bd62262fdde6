/// What became of a code that was to be kept.
enum IssueOutcome: Hashable, Sendable {
  case kept
  /// A live code has one of its hashes: draw another.
  case codeTaken
  /// A code has its handle.
  case handleTaken
  /// The phone reported not long ago.
  case phoneBusy
}
