import Foundation

/// Why the framework did not do what was asked.
///
/// A value with Apple's shape: `error as? ENError`, `catch ENError.notAuthorized` and
/// `switch error.code` all work. On Linux an `NSError` does not bridge back, so pass on the value.
public struct ENError: Error, Hashable, Sendable {
  /// Which of Apple's errors it is.
  public let code: Code
  /// What exactly is wrong and what to do, where there is more to say than the code says.
  package let explanation: String?

  /// An error of this code.
  public init(_ code: Code) {
    self.init(code, explanation: nil)
  }

  /// An error of this code. Linux cannot carry all that `userInfo` may hold across queues, so only
  /// the text under `NSLocalizedDescriptionKey` is kept.
  public init(_ code: Code, userInfo: [String: Any]) {
    self.init(code, explanation: userInfo[NSLocalizedDescriptionKey] as? String)
  }

  /// The error of `code`, with a sentence for whoever wrote the app.
  package init(_ code: Code, explanation: String?) {
    self.code = code
    self.explanation = explanation
  }

  /// `ENErrorDomain`.
  public static var errorDomain: String { ENErrorDomain }
}

extension ENError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: sentence] }
  public var errorDescription: String? { sentence }
  /// The sentence that a person may be shown.
  public var localizedDescription: String { sentence }

  private var sentence: String { explanation ?? code.sentence }
}

extension ENError: CustomStringConvertible {
  public var description: String { "ENError \(code.rawValue): \(localizedDescription)" }
}
