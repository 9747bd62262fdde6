// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why no token was created. On Linux an `NSError` does not bridge back, so pass on the
/// value.
public struct DCError: Error, Hashable, Sendable {
  /// The kind of error.
  public let code: Code

  /// An error of this code.
  public init(_ code: Code) {
    self.code = code
  }

  /// `com.apple.devicecheck.error`.
  public static var errorDomain: String { "com.apple.devicecheck.error" }
  /// An unknown failure of the system.
  public static var unknownSystemFailure: Code { .unknownSystemFailure }
  /// This device does not support tokens.
  public static var featureUnsupported: Code { .featureUnsupported }
  /// The input is invalid.
  public static var invalidInput: Code { .invalidInput }
  /// The key is unknown or damaged.
  public static var invalidKey: Code { .invalidKey }
  /// The token server cannot be reached.
  public static var serverUnavailable: Code { .serverUnavailable }
}

extension DCError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  public var errorDescription: String? { message }

  private var message: String {
    switch code {
    case .unknownSystemFailure: "Creating a device token failed; try again."
    case .featureUnsupported:
      "This device cannot prove that it is genuine; install a DeviceTokenSource in DCDevice.current."
    case .invalidInput: "The data for the token is invalid; correct it."
    case .invalidKey: "The key for the token is unknown or damaged; create a new one."
    case .serverUnavailable: "The token server cannot be reached; try again later."
    }
  }
}

extension DCError {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// An unknown failure of the system.
    case unknownSystemFailure = 0
    /// This device does not support tokens.
    case featureUnsupported = 1
    /// The input is invalid.
    case invalidInput = 2
    /// The key is unknown or damaged.
    case invalidKey = 3
    /// The token server cannot be reached.
    case serverUnavailable = 4
  }
}

extension DCError.Code {
  /// Lets `catch DCError.serverUnavailable` match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? DCError)?.code == code
  }
}
