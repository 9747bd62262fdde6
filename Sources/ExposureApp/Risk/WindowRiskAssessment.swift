import ExposureNotification

/// How an app of API version 2 judges its encounters: the framework makes windows of them by a
/// configuration, and a policy makes levels of the windows. Documentation/App.md 4.6.
public struct WindowRiskAssessment: Sendable {
  /// How the authority judges windows; it has no fault.
  public let policy: WindowRiskPolicy
  /// What each detection is asked with; a new object each time, since the class is not Sendable.
  public let configuration: @Sendable () -> ENExposureConfiguration

  /// An assessment by `policy` of what the framework finds with `configuration`.
  ///
  /// - Throws: `WindowRiskFault` with a sentence that begins with the field that makes no sense: of the
  ///   policy, or the map of infectiousness, without which version 2 detects nothing.
  public init(
    policy: WindowRiskPolicy, configuration: @escaping @Sendable () -> ENExposureConfiguration
  ) throws(WindowRiskFault) {
    if let fault = policy.fault { throw WindowRiskFault(sentence: fault) }
    guard configuration().infectiousnessForDaysSinceOnsetOfSymptoms?.isEmpty == false else {
      throw WindowRiskFault(sentence: Self.mapMissing)
    }
    self.policy = policy
    self.configuration = configuration
  }

  private static let mapMissing =
    "infectiousnessForDaysSinceOnsetOfSymptoms is empty; version 2 would find nothing."
}
