/// Which of the first screens a person is at. Documentation/App.md 2.
public enum OnboardingStep: String, Sendable, CaseIterable {
  /// The person has been through.
  case finished
  /// The person has not been asked yet.
  case askToEnable
  /// The person said no; only Settings can change it, which the app explains once more.
  case secondChance
  /// The person said yes; what is left is to read how it works.
  case readyToFinish
  /// This phone may not use exposure notifications.
  case restricted
}
