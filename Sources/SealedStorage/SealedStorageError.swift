/// Why something sealed could not be kept or opened.
public enum SealedStorageError: Error, Equatable, Sendable {
  /// No space is left, or the file would grow past what the system allows: make room, then retry.
  /// What was there before is still there.
  case full
  /// It exceeds a named limit, so retrying does not help: keep less at a time.
  case tooLarge
  /// The bytes were not sealed with this key and purpose, or have been changed since.
  case damaged
  /// The disk refused, with the system's error number.
  case disk(Int32)
}

extension SealedStorageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "The disk is full; make room and try again, nothing was lost."
    case .tooLarge: "This is more than can be kept in one place; keep less at a time."
    case .damaged: "The file does not open; set it aside and begin a new one."
    case .disk(let number): "The disk refused with error \(number); check it and try again."
    }
  }
}
