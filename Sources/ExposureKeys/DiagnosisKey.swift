// SPDX-License-Identifier: Apache-2.0
/// A Temporary Exposure Key that its owner has published after a diagnosis.
public struct DiagnosisKey: Hashable, Sendable {
  /// The risk levels that an authority may assign to a key.
  public static let transmissionRiskLevels: ClosedRange<UInt8> = 0...8

  /// The key.
  public let key: TemporaryExposureKey
  /// The assumed infectiousness of the owner, 0 (not used) to 8.
  public let transmissionRiskLevel: UInt8
  /// The kind of diagnosis; nil if the file has none.
  public let reportType: ReportType?
  /// The variant of the virus; nil if the file has none.
  public let variantOfConcern: VariantOfConcern?
  /// Days from the first symptoms to the key's day; nil if the file has none.
  public let daysSinceOnsetOfSymptoms: Int32?

  /// Returns nil if the risk level is outside `transmissionRiskLevels`.
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
  /// The order of keys in a file: by their bytes, which hides which keys were uploaded together.
  public static func inFileOrder(_ left: DiagnosisKey, _ right: DiagnosisKey) -> Bool {
    left.key.key < right.key.key
  }
}
