// SPDX-License-Identifier: Apache-2.0
/// The kind of diagnosis, with the numbers of the key file.
///
/// `TemporaryExposureKey.ReportType` of the export format.
public enum ReportType: Int32, Sendable, CaseIterable {
  /// Not stated.
  case unknown = 0
  /// A laboratory test.
  case confirmedTest = 1
  /// A doctor's diagnosis.
  case confirmedClinicalDiagnosis = 2
  /// A report by the user.
  case selfReport = 3
  /// A contact of a contact; reserved, never matched.
  case recursive = 4
  /// Withdrawn.
  case revoked = 5
}
