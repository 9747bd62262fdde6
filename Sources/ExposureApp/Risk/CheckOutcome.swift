/// How a check ended.
public enum CheckOutcome: Sendable, Hashable {
  /// Well: this is the level now.
  case checked(RiskLevel)
  /// Another check is under way; that one will tell.
  case alreadyRunning
  /// Not well.
  case failed(CheckFailure)

  /// Whether everything that could be checked has been.
  public var isSuccess: Bool {
    if case .checked = self { true } else { false }
  }
}
