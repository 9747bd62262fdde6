// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why no token was created, or why a call of an app attest key failed. On Linux an `NSError` does not
/// bridge back, so pass on the value.
public struct DCError: Error, Hashable, Sendable {
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
  /// `DCErrorDomain`.
  public static var errorDomain: String { DCErrorDomain }
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

/// The domain of every `DCError`.
public let DCErrorDomain = "com.apple.devicecheck.error"

extension DCError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  /// `userInfo` with the description, which Foundation on Linux takes from there.
  public var errorUserInfo: [String: Any] { values.described(by: code.message) }
  public var errorDescription: String? { localizedDescription }
  /// The text for `userInfo`'s `NSLocalizedDescriptionKey`, or that of the code.
  public var localizedDescription: String { values.description ?? code.message }
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

  fileprivate var message: String {
    switch self {
    case .unknownSystemFailure: "The device check failed for an unknown reason; try again."
    case .featureUnsupported:
      """
      This device cannot prove that it is genuine; install a DeviceTokenSource in DCDevice.current or an \
      AppAttestSource in DCAppAttestService.shared.
      """
    case .invalidInput: "The data for the device check is invalid; correct it."
    case .invalidKey: "The key is unknown, rejected or already attested; create a new one."
    case .serverUnavailable: "The server of the device check cannot be reached; try again later."
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
