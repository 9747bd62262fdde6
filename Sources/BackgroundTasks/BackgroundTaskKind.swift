/// The two kinds of background task.
public enum BackgroundTaskKind: Sendable, CaseIterable {
  /// Seconds long, to fetch something new.
  case refresh
  /// Minutes long.
  case processing
}
