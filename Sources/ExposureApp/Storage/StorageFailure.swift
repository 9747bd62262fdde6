// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage

/// An error of the app's store. The content on disk is unchanged, except if only its folder could not be synced.
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
