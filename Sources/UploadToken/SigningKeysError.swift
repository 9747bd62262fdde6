/// Why a set of signing keys cannot be used.
public enum SigningKeysError: Error, Sendable, Equatable, CustomStringConvertible {
  /// There is no key at all: make one.
  case noKey
  /// Two keys have the same id: a verifier could not tell them apart; rename one.
  case sameKeyID
  /// No key is good at this moment: add one that signs from now on.
  case noKeyNow

  public var description: String {
    switch self {
    case .noKey: "There must be at least one signing key."
    case .sameKeyID: "Every signing key must have an id of its own."
    case .noKeyNow: "No signing key is good now: add one that signs from now on."
    }
  }
}
