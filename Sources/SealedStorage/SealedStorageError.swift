/// Why something sealed could not be kept or opened.
public enum SealedStorageError: Error, Equatable, Sendable {
  /// No space is left, or the file would grow past what the system allows: make room, then retry.
  /// What was there before is still there.
  case full
  /// The bytes were not sealed with this key and purpose, or have been changed since.
  case damaged
  /// The disk refused, with the system's error number.
  case disk(Int32)
}
