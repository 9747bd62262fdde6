import ExposureNotification

/// How a transmission risk level is hidden in what a window says: one offset for the infectiousness
/// plus one for the report type. Documentation/App.md 4.5.
public struct TransmissionRiskEncoding: Codable, Hashable, Sendable {
  /// For standard infectiousness.
  public var infectiousnessOffsetStandard: Int
  /// For high infectiousness.
  public var infectiousnessOffsetHigh: Int
  /// For a contact of a contact.
  public var reportTypeOffsetRecursive: Int
  /// For a person's own report.
  public var reportTypeOffsetSelfReport: Int
  /// For a doctor's diagnosis.
  public var reportTypeOffsetConfirmedClinicalDiagnosis: Int
  /// For a laboratory test.
  public var reportTypeOffsetConfirmedTest: Int

  /// An encoding with these offsets.
  public init(
    infectiousnessOffsetStandard: Int, infectiousnessOffsetHigh: Int,
    reportTypeOffsetRecursive: Int, reportTypeOffsetSelfReport: Int,
    reportTypeOffsetConfirmedClinicalDiagnosis: Int, reportTypeOffsetConfirmedTest: Int
  ) {
    self.infectiousnessOffsetStandard = infectiousnessOffsetStandard
    self.infectiousnessOffsetHigh = infectiousnessOffsetHigh
    self.reportTypeOffsetRecursive = reportTypeOffsetRecursive
    self.reportTypeOffsetSelfReport = reportTypeOffsetSelfReport
    self.reportTypeOffsetConfirmedClinicalDiagnosis = reportTypeOffsetConfirmedClinicalDiagnosis
    self.reportTypeOffsetConfirmedTest = reportTypeOffsetConfirmedTest
  }
}

extension TransmissionRiskEncoding {
  /// The level of a window; nil where it says nothing an authority encodes, so that it cannot count.
  func level(_ infectiousness: ENInfectiousness, _ reportType: ENDiagnosisReportType) -> Int? {
    guard let first = offset(of: infectiousness), let second = offset(of: reportType) else {
      return nil
    }
    return first + second
  }

  private func offset(of infectiousness: ENInfectiousness) -> Int? {
    switch infectiousness {
    case .none: nil
    case .standard: infectiousnessOffsetStandard
    case .high: infectiousnessOffsetHigh
    }
  }

  private func offset(of reportType: ENDiagnosisReportType) -> Int? {
    switch reportType {
    case .unknown, .revoked: nil
    case .confirmedTest: reportTypeOffsetConfirmedTest
    case .confirmedClinicalDiagnosis: reportTypeOffsetConfirmedClinicalDiagnosis
    case .selfReported: reportTypeOffsetSelfReport
    case .recursive: reportTypeOffsetRecursive
    }
  }
}
