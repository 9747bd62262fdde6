/// One page of the onboarding.
public enum OnboardingStep: Equatable {
  case welcome
  case enable
  /// After "not now": what the person would miss, and the second chance.
  case recommendEnabling
  /// After a no to the system, which does not ask twice: the way through the settings.
  case recommendSettings
  case recommendNotices
  case notifyingOthers
  case finished

  /// What the page asks, to be answered with yes or no.
  public var question: String {
    switch self {
    case .welcome: return "Learn whether you were near someone with the disease. Begin?"
    case .enable: return "Switch exposure notification on?"
    case .recommendEnabling:
      return "Without it nobody can warn you, and you can warn nobody. Switch it on after all?"
    case .recommendSettings:
      return "The phone's settings keep exposure notification off. Have you changed them?"
    case .recommendNotices:
      return "The app may not notify you, so look into it yourself now and then. Continue?"
    case .notifyingOthers:
      return "If you test positive you can warn those who were near you. Understood?"
    case .finished: return ""
    }
  }
}
