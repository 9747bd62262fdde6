/// Whether the app has its memory. Documentation/App.md 8.
public enum StorageCondition: String, Sendable, CaseIterable {
  /// It has.
  case ready
  /// The key that opens the store is gone: only `startOver(with:)` helps, with a new key.
  case keyMissing
  /// The store does not open with this key, or was changed: only `startOver(with:)` helps.
  case damaged
  /// There was a store once, and it is gone: only `startOver(with:)` helps.
  case lost
  /// The disk does not give the store just now: try again later, nothing is lost.
  case unreadable

  /// What to tell the person, or nil where all is well.
  public var advice: String? {
    switch self {
    case .ready: nil
    case .keyMissing:
      "The app can no longer open what it stored on this phone. Start over to go on checking."
    case .damaged:
      "What the app stored on this phone is damaged. Start over to go on checking."
    case .lost:
      "What the app stored on this phone is gone. Start over to go on checking."
    case .unreadable:
      "The app cannot read its storage just now. Unlock or restart the phone, then open the app."
    }
  }
}
