/// A Temporary Exposure Key that its owner has published after a diagnosis.
public struct DiagnosisKey: Hashable, Sendable {
  /// The risk levels an authority may give to a key.
  public static let transmissionRiskLevels: ClosedRange<UInt8> = 0...8

  /// The key.
  public let key: TemporaryExposureKey
  /// How infectious the owner was thought to be, 0 (not used) to 8.
  public let transmissionRiskLevel: UInt8
  /// What the diagnosis rests on; nil where the file does not say.
  public let reportType: ReportType?
  /// What is known of the virus that was found; nil where the file does not say.
  public let variantOfConcern: VariantOfConcern?
  /// Days from the first symptoms to the key's day; nil where the file does not say.
  public let daysSinceOnsetOfSymptoms: Int32?

  /// Nil where the risk level is outside `transmissionRiskLevels`.
  public init?(
    key: TemporaryExposureKey, transmissionRiskLevel: UInt8 = 0, reportType: ReportType? = nil,
    daysSinceOnsetOfSymptoms: Int32? = nil, variantOfConcern: VariantOfConcern? = nil
  ) {
    guard Self.transmissionRiskLevels.contains(transmissionRiskLevel) else { return nil }
    self.key = key
    self.transmissionRiskLevel = transmissionRiskLevel
    self.reportType = reportType
    self.variantOfConcern = variantOfConcern
    self.daysSinceOnsetOfSymptoms = daysSinceOnsetOfSymptoms
  }
}

extension DiagnosisKey {
  /// The order of a key file: by the keys' bytes, which tells nothing about who uploaded together.
  public static func inFileOrder(_ left: DiagnosisKey, _ right: DiagnosisKey) -> Bool {
    left.key.key < right.key.key
  }
}

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

/// What is special about the variant of the virus that was found, with the numbers of the key file.
///
/// Field 8 of a key in the export format; see Documentation/KeyFiles.md 2.3. One byte, since hundreds
/// of thousands of keys carry it.
public enum VariantOfConcern: UInt8, Sendable, CaseIterable {
  /// Not stated.
  case unknown = 0
  /// Vaccines work against it.
  case vaccineEffective = 1
  /// It spreads very easily.
  case highlyTransmissive = 2
  /// It makes people severely ill.
  case highSeverity = 3
  /// It breaks through vaccines.
  case vaccineBreakthrough = 4
}
