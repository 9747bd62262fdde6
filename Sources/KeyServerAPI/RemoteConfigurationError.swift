/// Why a remote configuration is not taken; the phone goes on with the one it has.
public enum RemoteConfigurationError: Error, Hashable, Sendable {
  /// Not JSON of the signed form, or longer than a phone reads.
  case malformed
  /// Signed by a key the app does not carry.
  case unknownKey
  /// Not what the key's owner signed.
  case wrongSignature
  /// Older than the one the phone has.
  case rolledBack
  /// A value is out of bounds; the sentence names its field.
  case invalid(String)
}

extension RemoteConfigurationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "The remote configuration cannot be read: ask for it again."
    case .unknownKey: "The remote configuration is signed by an unknown key: update the app."
    case .wrongSignature: "The remote configuration was changed after signing: do not use it."
    case .rolledBack:
      "The remote configuration is older than the present one: keep the present one."
    case .invalid(let sentence): "The remote configuration cannot be used: \(sentence)"
    }
  }
}
