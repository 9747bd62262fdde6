// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import SealedStorage

/// The error of a failed call.
///
/// A value that is used like Apple's: `error as? ENError`, `catch ENError.notAuthorized` and
/// `switch error.code` work. On Linux an `NSError` does not bridge back, so pass on the value.
public struct ENError: Error, Hashable, Sendable {
  /// The kind of error.
  public let code: Code
  private let values: UserInfo

  /// An error of this code. `userInfo` may have a text under `NSLocalizedDescriptionKey`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    values = UserInfo(values: userInfo)
  }

  /// An error of `code` with a text for the developer of the app: what is wrong and what to do.
  package init(_ code: Code, explanation: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: explanation])
  }

  /// The values that were passed to the initializer.
  public var userInfo: [String: Any] { values.values }

  /// `ENErrorDomain`.
  public static var errorDomain: String { ENErrorDomain }
}

/// A pointer to an error. No call takes one; Apple's own passes errors of Objective-C.
public typealias ENErrorOutType = UnsafeMutablePointer<NSError?>

extension ENError {
  /// The values of an error. An error is not changed, and nothing else uses them.
  private struct UserInfo: Hashable, @unchecked Sendable {
    let values: [String: Any]

    static func == (one: Self, other: Self) -> Bool {
      NSDictionary(dictionary: one.values) == NSDictionary(dictionary: other.values)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(Set(values.keys))
    }
  }
}

extension ENError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  /// `userInfo` with the description, which Foundation on Linux takes from there.
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: code.message]) { own, _ in own }
  }
  public var errorDescription: String? { localizedDescription }
  /// The text that may be shown to the user.
  public var localizedDescription: String {
    userInfo[NSLocalizedDescriptionKey] as? String ?? code.message
  }
}

extension ENError: CustomStringConvertible {
  public var description: String { "ENError \(code.rawValue): \(localizedDescription)" }
}

extension ENError {
  /// The errors, with Apple's numbers.
  public enum Code: Int, Sendable, CaseIterable {
    /// The cause is not known.
    case unknown = 1
    /// A parameter is invalid.
    case badParameter = 2
    /// The app may not use exposure notification.
    case notEntitled = 3
    /// The user has not allowed it.
    case notAuthorized = 4
    /// Not supported by this device or API version.
    case unsupported = 5
    /// The manager was invalidated.
    case invalidated = 6
    /// The radio is off.
    case bluetoothOff = 7
    /// The disk is full.
    case insufficientStorage = 8
    /// Exposure notification is turned off.
    case notEnabled = 9
    /// The call is not allowed in this state.
    case apiMisuse = 10
    /// A bug in the framework.
    case `internal` = 11
    /// There is not enough memory.
    case insufficientMemory = 12
    /// The limit of calls was exceeded.
    case rateLimited = 13
    /// Forbidden on this device.
    case restricted = 14
    /// A key file is invalid or not signed by a trusted key.
    case badFormat = 15
    /// The stored data cannot be read.
    case dataInaccessible = 16
    /// The travel status is not known.
    case travelStatusNotAvailable = 17
  }
}

extension ENError.Code {
  /// Lets `catch ENError.notAuthorized` match an error of that code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? ENError)?.code == code
  }

  var message: String {
    switch self {
    case .unknown:
      "Exposure notification failed for an unknown reason; try again."
    case .badParameter:
      "A parameter is out of its range; correct the call."
    case .notEntitled:
      "The app lacks the exposure notification entitlement; add it."
    case .notAuthorized:
      "The user has not allowed this; it can be allowed in the settings."
    case .unsupported:
      "This is not supported here; use another API version or install a device."
    case .invalidated:
      "The manager was invalidated; create a new one."
    case .bluetoothOff:
      "Bluetooth is off; turn it on."
    case .insufficientStorage:
      "The disk is full; free some space and try again."
    case .notEnabled:
      "Exposure notification is off; turn it on first."
    case .apiMisuse:
      "The call is not allowed in this state; activate the manager first."
    case .internal:
      "The framework failed; report it."
    case .insufficientMemory:
      "There is not enough memory; try again with less data."
    case .rateLimited:
      "Called too often in 24 hours; try again later."
    case .restricted:
      "Exposure notification is restricted on this device."
    case .badFormat:
      "A key file is damaged or not signed by this region; download it again."
    case .dataInaccessible:
      "The stored data cannot be read now; unlock the device or check its disk."
    case .travelStatusNotAvailable:
      "The travel status is not known yet; try again later."
    }
  }
}

// Apple's short names: `ENError.notEnabled` is `ENError.Code.notEnabled`.
extension ENError {
  /// The cause is not known.
  public static var unknown: Code { .unknown }
  /// A parameter is invalid.
  public static var badParameter: Code { .badParameter }
  /// The app may not use exposure notification.
  public static var notEntitled: Code { .notEntitled }
  /// The user has not allowed it.
  public static var notAuthorized: Code { .notAuthorized }
  /// Not supported by this device or API version.
  public static var unsupported: Code { .unsupported }
  /// The manager was invalidated.
  public static var invalidated: Code { .invalidated }
  /// The radio is off.
  public static var bluetoothOff: Code { .bluetoothOff }
  /// The disk is full.
  public static var insufficientStorage: Code { .insufficientStorage }
  /// Exposure notification is turned off.
  public static var notEnabled: Code { .notEnabled }
  /// The call is not allowed in this state.
  public static var apiMisuse: Code { .apiMisuse }
  /// A bug in the framework.
  public static var `internal`: Code { .internal }
  /// There is not enough memory.
  public static var insufficientMemory: Code { .insufficientMemory }
  /// The limit of calls was exceeded.
  public static var rateLimited: Code { .rateLimited }
  /// Forbidden on this device.
  public static var restricted: Code { .restricted }
  /// A key file is invalid or not signed by a trusted key.
  public static var badFormat: Code { .badFormat }
  /// The stored data cannot be read.
  public static var dataInaccessible: Code { .dataInaccessible }
  /// The travel status is not known.
  public static var travelStatusNotAvailable: Code { .travelStatusNotAvailable }
}

extension ENError {
  /// The error for a failure to store or read data. Only a full disk is `.insufficientStorage`; missing
  /// permission is not.
  init(_ cause: SealedStorageError) {
    switch cause.code {
    case .full: self.init(.insufficientStorage)
    case .tooLarge: self.init(.insufficientStorage, explanation: cause.description)
    default: self.init(.dataInaccessible, explanation: cause.description)
    }
  }

  /// The error for a rejected key file, or for one that could not be read.
  init(_ cause: KeyFileError) {
    switch (cause.code, cause.systemError) {
    case (.diskFull, _): self.init(.insufficientStorage)
    case (.cannotRead, let number?) where number != ENOENT, (.cannotWrite, let number?):
      self.init(.dataInaccessible, explanation: KeyFileError.cannotRead(number).description)
    default: self.init(.badFormat, explanation: cause.description)
    }
  }

  /// The error that an app receives for `error`. A cancelled detection ends with
  /// `CocoaError.userCancelled`, because Apple has no code for it. An error of a part that the program
  /// provides, such as a `ConsentPrompt`, becomes `.unknown`.
  static func reason(for error: any Error) -> any Error {
    switch error {
    case let error as ENError: error
    case let error as SealedStorageError: ENError(error)
    case is CancellationError: CocoaError(.userCancelled)
    default: ENError(.unknown)
    }
  }
}
