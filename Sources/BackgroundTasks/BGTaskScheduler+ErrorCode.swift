extension BGTaskScheduler.Error {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// Nothing runs in the background here.
    case unavailable = 1
    /// Too many requests wait already.
    case tooManyPendingTaskRequests = 2
    /// The identifier is not among the permitted ones.
    case notPermitted = 3
  }
}

extension BGTaskScheduler.Error.Code {
  /// Lets `catch BGTaskScheduler.Error.notPermitted` match.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
  }
}
