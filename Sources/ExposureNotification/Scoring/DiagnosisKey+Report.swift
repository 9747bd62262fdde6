import ExposureKeys

extension DiagnosisKey {
  /// Days from the first symptoms that make sense; others count as not stated.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14

  /// Days from the first symptoms to the key's day, where stated and within 14.
  var usableDaysSinceOnset: Int? {
    daysSinceOnsetOfSymptoms.flatMap { Self.daysSinceOnset.contains($0) ? Int($0) : nil }
  }
}

extension ENDiagnosisReportType {
  /// The name of `reportType` in Apple's interface; what is not stated is unknown.
  init(_ reportType: ReportType?) {
    self = reportType.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .unknown
  }
}

extension ENVariantOfConcernType {
  /// The name of `variant` in Apple's interface; what is not stated is unknown.
  init(_ variant: VariantOfConcern?) {
    self = variant.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .typeUnknown
  }
}
