import SealedStorage

/// Why nothing could be stored. What was stored before is still there.
public enum StorageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The store is not open.
  case notReady(StorageCondition)
  /// The disk has no room: make room, then try again.
  case full
  /// The disk refused: try again.
  case disk

  init(_ error: SealedStorageError) {
    self = error == .full ? .full : .disk
  }

  public var description: String {
    switch self {
    case .notReady(let condition): condition.advice ?? "The app is still opening its storage."
    case .full: "The disk is full; make room and try again."
    case .disk: "The disk refused to store; try again."
    }
  }
}
