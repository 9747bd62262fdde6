/// What a diagnosis rests on, with the numbers of the key file.
///
/// `TemporaryExposureKey.ReportType` of the export format; see Documentation/KeyFiles.md 2.
public enum ReportType: Int32, Sendable, CaseIterable {
  /// Not stated.
  case unknown = 0
  /// A laboratory test.
  case confirmedTest = 1
  /// A doctor's diagnosis.
  case confirmedClinicalDiagnosis = 2
  /// The person's own report.
  case selfReport = 3
  /// A contact of a contact; reserved, never matched.
  case recursive = 4
  /// Withdrawn.
  case revoked = 5
}
