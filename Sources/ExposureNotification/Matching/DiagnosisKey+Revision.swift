import ExposureKeys

extension DiagnosisKey {
  /// Whether a revision may put `revised` in the place of this key.
  ///
  /// A diagnosis becomes surer or is withdrawn, once; a laboratory's word stands. What did not say
  /// what it rests on may still come to say it (Documentation/RiskScoring.md 1.7).
  func mayBecome(_ revised: DiagnosisKey) -> Bool {
    switch reportType ?? .unknown {
    case .unknown: true
    case .selfReport:
      [.confirmedTest, .confirmedClinicalDiagnosis, .revoked].contains(revised.reportType)
    case .confirmedClinicalDiagnosis: [.confirmedTest, .revoked].contains(revised.reportType)
    case .confirmedTest, .recursive, .revoked: false
    }
  }
}
