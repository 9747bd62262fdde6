import Foundation

extension BGTaskScheduler {
  /// The reason why a request is rejected. On Linux an `NSError` does not bridge back, so pass on
  /// the value.
  public struct Error: Swift.Error, Hashable, Sendable {
    /// The kind of error.
    public let code: Code

    /// An error of this code.
    public init(_ code: Code) {
      self.code = code
    }

    /// `BGTaskSchedulerErrorDomain`.
    public static var errorDomain: String { "BGTaskSchedulerErrorDomain" }
    /// Background tasks are not available.
    public static var unavailable: Code { .unavailable }
    /// There are too many pending requests.
    public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
    /// The identifier is not permitted.
    public static var notPermitted: Code { .notPermitted }
  }
}

extension BGTaskScheduler.Error: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  public var errorDescription: String? { message }

  private var message: String {
    switch code {
    case .unavailable:
      "Background tasks are not available; install a BackgroundTaskSink in BGTaskScheduler.shared."
    case .tooManyPendingTaskRequests:
      "There are too many pending background tasks; cancel one first."
    case .notPermitted:
      "The task's identifier is not permitted; pass it to BGTaskScheduler.install."
    }
  }
}

extension BGTaskScheduler.Error {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// Background tasks are not available.
    case unavailable = 1
    /// There are too many pending requests.
    case tooManyPendingTaskRequests = 2
    /// The identifier is not permitted.
    case notPermitted = 3
  }
}

extension BGTaskScheduler.Error.Code {
  /// Lets `catch BGTaskScheduler.Error.notPermitted` match.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
  }
}
