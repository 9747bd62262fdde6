// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why a notification is rejected. On Linux an `NSError` does not bridge back, so pass on
/// the value.
public struct UNError: Error, Hashable, Sendable {
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
  /// `UNErrorDomain`.
  public static var errorDomain: String { UNErrorDomain }
}

/// The domain of every `UNError`.
public let UNErrorDomain = "UNErrorDomain"

extension UNError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  /// `userInfo` with the description, which Foundation on Linux takes from there.
  public var errorUserInfo: [String: Any] { values.described(by: code.message) }
  public var errorDescription: String? { localizedDescription }
  /// The text for `userInfo`'s `NSLocalizedDescriptionKey`, or that of the code.
  public var localizedDescription: String { values.description ?? code.message }
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

extension UNError {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The user does not allow notifications.
    case notificationsNotAllowed = 1
    /// The URL of an attachment is not that of a readable file.
    case attachmentInvalidURL = 100
    /// The type of an attachment is not known.
    case attachmentUnrecognizedType = 101
    /// An attachment is too large.
    case attachmentInvalidFileSize = 102
    /// The stored file of an attachment is missing.
    case attachmentNotInDataStore = 103
    /// The file of an attachment could not be stored.
    case attachmentMoveIntoDataStoreFailed = 104
    /// The file of an attachment is damaged.
    case attachmentCorrupt = 105
    /// There is no date.
    case notificationInvalidNoDate = 1400
    /// There is nothing to show.
    case notificationInvalidNoContent = 1401
    /// The object may not provide values of a content.
    case contentProvidingObjectNotAllowed = 1500
    /// The values that an object provides are invalid.
    case contentProvidingInvalid = 1501
    /// The number of a badge is invalid.
    case badgeInputInvalid = 1600
  }
}

extension UNError.Code {
  /// Lets `catch UNError.notificationsNotAllowed` match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? UNError)?.code == code
  }

  fileprivate var message: String {
    switch self {
    case .notificationsNotAllowed:
      "Notifications are not allowed; call requestAuthorization or install a UserNotificationSink."
    case .attachmentInvalidURL:
      "The attachment is not a readable file; pass the file URL of an existing file."
    case .attachmentUnrecognizedType:
      "The type of the attachment is not known; use a picture, sound or film, or state its type."
    case .attachmentInvalidFileSize:
      "The attachment is too large; use a smaller file."
    case .attachmentNotInDataStore:
      "The stored file of the attachment is missing; create the attachment again."
    case .attachmentMoveIntoDataStoreFailed:
      "The file of the attachment could not be stored; check the disk."
    case .attachmentCorrupt:
      "The file of the attachment is damaged; use another one."
    case .notificationInvalidNoDate:
      "The notification has no date; give its trigger one."
    case .notificationInvalidNoContent:
      "The notification has no content; give it a title, a body, a badge or a sound."
    case .contentProvidingObjectNotAllowed:
      "Only objects of Apple's system provide content; set the properties of the content."
    case .contentProvidingInvalid:
      "The values of the content are invalid; correct the object that provides them."
    case .badgeInputInvalid:
      "The number of the badge is negative; pass 0 or more."
    }
  }
}

// Apple's short names: `UNError.attachmentCorrupt` is `UNError.Code.attachmentCorrupt`.
extension UNError {
  /// The user does not allow notifications.
  public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
  /// The URL of an attachment is not that of a readable file.
  public static var attachmentInvalidURL: Code { .attachmentInvalidURL }
  /// The type of an attachment is not known.
  public static var attachmentUnrecognizedType: Code { .attachmentUnrecognizedType }
  /// An attachment is too large.
  public static var attachmentInvalidFileSize: Code { .attachmentInvalidFileSize }
  /// The stored file of an attachment is missing.
  public static var attachmentNotInDataStore: Code { .attachmentNotInDataStore }
  /// The file of an attachment could not be stored.
  public static var attachmentMoveIntoDataStoreFailed: Code { .attachmentMoveIntoDataStoreFailed }
  /// The file of an attachment is damaged.
  public static var attachmentCorrupt: Code { .attachmentCorrupt }
  /// There is no date.
  public static var notificationInvalidNoDate: Code { .notificationInvalidNoDate }
  /// There is nothing to show.
  public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
  /// The object may not provide values of a content.
  public static var contentProvidingObjectNotAllowed: Code { .contentProvidingObjectNotAllowed }
  /// The values that an object provides are invalid.
  public static var contentProvidingInvalid: Code { .contentProvidingInvalid }
  /// The number of a badge is invalid.
  public static var badgeInputInvalid: Code { .badgeInputInvalid }
}
