import Foundation

extension BGTaskScheduler {
  /// Why a request was not taken. On Linux an `NSError` does not bridge back, so pass on the value.
  public struct Error: Swift.Error, Hashable, Sendable {
    /// Which of Apple's errors it is.
    public let code: Code

    /// An error of this code.
    public init(_ code: Code) {
      self.code = code
    }

    /// `BGTaskSchedulerErrorDomain`.
    public static var errorDomain: String { "BGTaskSchedulerErrorDomain" }
    /// Nothing runs in the background here.
    public static var unavailable: Code { .unavailable }
    /// Too many requests wait already.
    public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
    /// The identifier is not among the permitted ones.
    public static var notPermitted: Code { .notPermitted }
  }
}

extension BGTaskScheduler.Error: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: sentence] }
  public var errorDescription: String? { sentence }

  private var sentence: String {
    switch code {
    case .unavailable:
      "Nothing runs in the background here; install a BackgroundTaskSink in BGTaskScheduler.shared."
    case .tooManyPendingTaskRequests:
      "Too many background tasks are asked for; cancel one first."
    case .notPermitted:
      "The task's identifier is not permitted; name it where the BackgroundTaskSink is installed."
    }
  }
}
