/// How many requests may wait at once. Apple's figures.
public enum BackgroundTaskLimit {
  /// Of refresh tasks.
  public static let pendingRefreshTasks = 1
  /// Of processing tasks.
  public static let pendingProcessingTasks = 10

  static func pending(_ kind: BackgroundTaskKind) -> Int {
    switch kind {
    case .refresh: pendingRefreshTasks
    case .processing: pendingProcessingTasks
    }
  }
}
