extension ExposureWindow {
  /// The window as it counts where it did not come from a detection: one that does not state its
  /// report counts as `unstated`; nil where nobody was infectious, or the report is unknown all the
  /// same or was revoked (Documentation/RiskScoring.md 7.1 and 7.2).
  package func counted(unstatedAs unstated: ENDiagnosisReportType) -> ExposureWindow? {
    var window = self
    if diagnosisReportType == .unknown { window.diagnosisReportType = unstated }
    guard infectiousness != .none,
      window.diagnosisReportType != .unknown, window.diagnosisReportType != .revoked
    else { return nil }
    return window
  }
}
