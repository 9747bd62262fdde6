/// What one detection found.
///
/// A value that crosses queues; Apple's objects are made of it where an app gets them.
package struct DetectionResult: Hashable, Sendable {
  /// The sums.
  package let found: ExposureSummary
  /// The exposures of version 1 that pass the filters.
  package let incidents: [ScoredIncident]
  /// The windows of version 2, in an order that links none of them.
  package let exposureWindows: [ExposureWindow]

  /// A result of these parts.
  init(
    found: ExposureSummary, incidents: [ScoredIncident] = [],
    exposureWindows: [ExposureWindow] = []
  ) {
    self.found = found
    self.incidents = incidents
    self.exposureWindows = exposureWindows
  }

  /// How many different keys matched.
  package var matchedKeyCount: Int { found.matchedKeyCount }
}
