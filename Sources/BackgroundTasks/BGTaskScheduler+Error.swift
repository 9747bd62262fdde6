// SPDX-License-Identifier: Apache-2.0
import Foundation

extension BGTaskScheduler {
  /// The domain of every `BGTaskScheduler.Error`.
  public static let errorDomain = "BGTaskSchedulerErrorDomain"

  /// The reason why a request is rejected. On Linux an `NSError` does not bridge back, so pass on
  /// the value.
  public struct Error: Swift.Error, Hashable, Sendable {
    /// The kind of error.
    public let code: Code
    private let values: ErrorUserInfo

    /// An error of this code. `userInfo` may have a text under `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
      self.code = code
      values = ErrorUserInfo(userInfo)
    }

    /// The values that were passed to the initializer.
    public var userInfo: [String: Any] { values.values }
    /// `BGTaskScheduler.errorDomain`.
    public static var errorDomain: String { BGTaskScheduler.errorDomain }
    /// Background tasks are not available.
    public static var unavailable: Code { .unavailable }
    /// There are too many pending requests.
    public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
    /// The identifier is not permitted.
    public static var notPermitted: Code { .notPermitted }
    /// The request cannot run at once.
    public static var immediateRunIneligible: Code { .immediateRunIneligible }
  }
}

extension BGTaskScheduler.Error: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  /// `userInfo` with the description, which Foundation on Linux takes from there.
  public var errorUserInfo: [String: Any] { values.described(by: code.message) }
  public var errorDescription: String? { localizedDescription }
  /// The text for `userInfo`'s `NSLocalizedDescriptionKey`, or that of the code.
  public var localizedDescription: String { values.description ?? code.message }
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
    /// The request cannot run at once.
    case immediateRunIneligible = 4
  }
}

extension BGTaskScheduler.Error.Code {
  /// Lets `catch BGTaskScheduler.Error.notPermitted` match.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
  }

  fileprivate var message: String {
    switch self {
    case .unavailable:
      "Background tasks are not available; install a BackgroundTaskSink in BGTaskScheduler.shared."
    case .tooManyPendingTaskRequests:
      "There are too many pending background tasks; cancel one first."
    case .notPermitted:
      "The task's identifier is not permitted; pass it to BGTaskScheduler.install."
    case .immediateRunIneligible:
      "The task cannot run at once; submit it again later."
    }
  }
}

/// The values of an error. An error is not changed, and nothing else uses them.
struct ErrorUserInfo: Hashable, @unchecked Sendable {
  let values: [String: Any]

  init(_ values: [String: Any]) {
    self.values = values
  }

  var description: String? { values[NSLocalizedDescriptionKey] as? String }

  func described(by description: String) -> [String: Any] {
    values.merging([NSLocalizedDescriptionKey: description]) { own, _ in own }
  }

  static func == (one: Self, other: Self) -> Bool {
    NSDictionary(dictionary: one.values) == NSDictionary(dictionary: other.values)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(Set(values.keys))
  }
}
