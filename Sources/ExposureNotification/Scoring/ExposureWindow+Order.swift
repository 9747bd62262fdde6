extension ExposureWindow {
  /// An order by what a window says and nothing else, so that the list does not tell which windows
  /// are of the same person (Documentation/RiskScoring.md 7.5).
  static func byContent(_ left: ExposureWindow, _ right: ExposureWindow) -> Bool {
    if left.date != right.date { return left.date < right.date }
    return left.figures.lexicographicallyPrecedes(right.figures)
  }

  private var figures: [Int] {
    [
      Int(diagnosisReportType.rawValue), Int(infectiousness.rawValue),
      Int(calibrationConfidence.rawValue), Int(variantOfConcernType.rawValue),
    ]
      + scanInstances.flatMap {
        [Int($0.typicalAttenuation), Int($0.minimumAttenuation), $0.secondsSinceLastScan]
      }
  }
}
