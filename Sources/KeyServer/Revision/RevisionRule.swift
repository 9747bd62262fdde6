import ExposureKeys

/// What becomes of one key of an upload. Documentation/KeyServer.md 9.3 has the rules in sentences.
enum RevisionRule {
  enum Outcome: Hashable {
    /// It is new.
    case insert
    /// It is in already and becomes what the upload says.
    case revise
    /// It is in already and stays as it is.
    case leave
    /// It is taken no notice of.
    case drop
    case refuse(RevisionRefusal)
  }

  /// What becomes of `sent`, given what is `known` of its bytes.
  static func outcome(
    of sent: PublishableKey, known: KnownKey?, under policy: RevisionPolicy
  ) -> Outcome {
    guard let known else {
      // Nothing can be withdrawn that was never there.
      return sent.key.reportType == .revoked ? .drop : .insert
    }
    guard case .token(_, let allowsPartial) = policy else { return .leave }
    if let refusal = policy.refusal(of: sent.revisable) {
      return allowsPartial ? .drop : .refuse(refusal)
    }
    let type = sent.key.reportType
    if type == known.reportType || type == known.revisedReportType { return .leave }
    if type == stated(known.reportType) { return .leave }
    guard known.revisedReportType == nil else { return .refuse(.alreadyRevised) }
    return canBecome(type, from: known.reportType) ? .revise : .refuse(.invalidTransition)
  }

  /// A finding may become surer or be withdrawn, never less sure. One that was never stated counts as a
  /// doctor's.
  static func canBecome(_ new: ReportType?, from old: ReportType?) -> Bool {
    switch stated(old) {
    case .confirmedClinicalDiagnosis: new == .confirmedTest || new == .revoked
    case .selfReport:
      new == .confirmedTest || new == .confirmedClinicalDiagnosis || new == .revoked
    default: false
    }
  }

  /// `finding`, or what one counts as that was never stated.
  private static func stated(_ finding: ReportType?) -> ReportType {
    guard let finding, finding != .unknown else { return .confirmedClinicalDiagnosis }
    return finding
  }
}
