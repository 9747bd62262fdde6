/// What a diagnosis rests on.
@frozen public enum ENDiagnosisReportType: UInt32, Sendable {
  /// Not stated.
  case unknown = 0
  /// A laboratory test.
  case confirmedTest = 1
  /// A doctor's diagnosis.
  case confirmedClinicalDiagnosis = 2
  /// The person's own report.
  case selfReported = 3
  /// A contact of a contact; reserved.
  case recursive = 4
  /// Withdrawn.
  case revoked = 5
}
