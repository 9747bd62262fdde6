import Foundation

/// Why there is no token. On Linux an `NSError` does not bridge back, so pass on the value.
public struct DCError: Error, Hashable, Sendable {
  /// Which of Apple's errors it is.
  public let code: Code

  /// An error of this code.
  public init(_ code: Code) {
    self.code = code
  }

  /// `com.apple.devicecheck.error`.
  public static var errorDomain: String { "com.apple.devicecheck.error" }
  /// Something went wrong that has no code of its own.
  public static var unknownSystemFailure: Code { .unknownSystemFailure }
  /// This device cannot prove anything.
  public static var featureUnsupported: Code { .featureUnsupported }
  /// The data handed in are not usable.
  public static var invalidInput: Code { .invalidInput }
  /// The key is unknown or damaged.
  public static var invalidKey: Code { .invalidKey }
  /// The authority's server cannot be reached.
  public static var serverUnavailable: Code { .serverUnavailable }
}

extension DCError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: sentence] }
  public var errorDescription: String? { sentence }

  private var sentence: String {
    switch code {
    case .unknownSystemFailure: "The device could not make a token; try again."
    case .featureUnsupported:
      "This device cannot prove that it is genuine; install a DeviceTokenSource in DCDevice.current."
    case .invalidInput: "The data for the token are not usable; correct them."
    case .invalidKey: "The key for the token is unknown or damaged; make a new one."
    case .serverUnavailable: "The authority that makes tokens cannot be reached; try again later."
    }
  }
}
