import Foundation

/// At most 30 minutes near one phone (Documentation/RiskScoring.md 7).
package struct ExposureWindow: Hashable, Sendable {
  /// Midnight UTC of the window's day.
  package var date = Date(timeIntervalSince1970: 0)
  /// How far the sender's transmit power can be relied on.
  package var calibrationConfidence = ENCalibrationConfidence.lowest
  /// What the diagnosis rests on.
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  /// How infectious the other person was.
  package var infectiousness = ENInfectiousness.none
  /// What is known about the variant of the virus; no score counts it.
  package var variantOfConcernType = ENVariantOfConcernType.typeUnknown
  /// The scans, in the order of time.
  package var scanInstances: [ScanInstance] = []

  /// An empty window.
  package init() {}
}
