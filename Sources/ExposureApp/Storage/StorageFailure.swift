import Foundation
import SealedStorage

/// An error of the app's store. The content on disk is unchanged.
public enum StorageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The store is not open.
  case notReady(StorageCondition)
  /// The disk is full; free some space, then retry.
  case full
  /// The app may not write to its folder; correct its permissions.
  case notPermitted
  /// The write failed for another reason; retry.
  case disk

  init(_ error: SealedStorageError) {
    self =
      switch error {
      case .full: .full
      case .disk(EACCES), .disk(EPERM), .disk(EROFS): .notPermitted
      default: .disk
      }
  }

  public var description: String {
    switch self {
    case .notReady(let condition): condition.advice ?? "The app is still opening its storage."
    case .full: "The disk is full; free some space and try again."
    case .notPermitted: "The app may not write to its folder; correct the folder's permissions."
    case .disk: "Writing to the disk failed; try again."
    }
  }
}

/// The condition of the app's store.
public enum StorageCondition: String, Codable, Sendable, CaseIterable {
  /// The store is open.
  case ready
  /// The encryption key is lost; call `startOver(with:)` with a new key.
  case keyMissing
  /// No file of the store fits the key; call `startOver(with:)`.
  case damaged
  /// The disk returned a read error; nothing is lost, retry later.
  case unreadable

  /// The text for the user, or `nil` if the store is open.
  public var advice: String? {
    switch self {
    case .ready: nil
    case .keyMissing:
      "The app can no longer decrypt its data on this phone. Start over to continue checking."
    case .damaged:
      "The app's data on this phone is damaged or the key is wrong. Start over to continue checking."
    case .unreadable:
      "The app cannot read its data at the moment. Unlock or restart the phone, and check its disk."
    }
  }
}
