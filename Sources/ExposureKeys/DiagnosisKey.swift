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
