/// Why the verification server could not start or could not do what it was asked.
public enum VerificationServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The configuration does not make sense; the text names the field and what to write there.
  case badConfiguration(String)
  /// Nothing could be kept just now, and nothing was: try again later.
  case storageUnavailable
  /// No token could be signed, and no code was used up: try again later.
  case signingUnavailable

  public var description: String {
    switch self {
    case .badConfiguration(let sentence): sentence
    case .storageUnavailable:
      "The database could not keep anything: make room on its disk, then ask again."
    case .signingUnavailable: "No token could be signed: check the signing key, then ask again."
    }
  }
}
