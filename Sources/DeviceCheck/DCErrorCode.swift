extension DCError {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// Something went wrong that has no code of its own.
    case unknownSystemFailure = 0
    /// This device cannot prove anything.
    case featureUnsupported = 1
    /// The data handed in are not usable.
    case invalidInput = 2
    /// The key is unknown or damaged.
    case invalidKey = 3
    /// The authority's server cannot be reached.
    case serverUnavailable = 4
  }
}

extension DCError.Code {
  /// Lets `catch DCError.serverUnavailable` match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? DCError)?.code == code
  }
}
