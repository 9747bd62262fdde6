import ExposureKeys
import Foundation

extension ExposureWindow {
  /// A window ends this many seconds after its first sighting.
  package static let length: TimeInterval = 30 * 60

  /// The sightings of `match` cut into windows, in the order of time.
  static func windows(
    of match: KeyMatch, infectiousness: ENInfectiousness,
    diagnosisReportType: ENDiagnosisReportType
  ) -> [ExposureWindow] {
    match.sightings.runs(within: length, isEndIncluded: false).compactMap { sightings in
      guard let first = sightings.first else { return nil }
      var window = ExposureWindow()
      window.date = Day(of: first.time).midnight
      window.calibrationConfidence = first.calibrationConfidence
      window.infectiousness = infectiousness
      window.diagnosisReportType = diagnosisReportType
      window.variantOfConcernType = ENVariantOfConcernType(match.key.variantOfConcern)
      window.scanInstances = sightings.runs(within: ScannedSighting.scanLength, isEndIncluded: true)
        .compactMap(ScanInstance.init)
      return window
    }
  }
}

extension ScanInstance {
  /// The most minutes that count as time since the scan before.
  static let longestGapMinutes = 5.0
  /// Seconds since the scan before where nobody knows them.
  static let unknownGap = 120

  /// The scan of these sightings; nil where there are none.
  init?(_ sightings: [MatchedSighting]) {
    let decibels = sightings.map(\.attenuation.decibels)
    guard let first = sightings.first, let least = decibels.min() else { return nil }
    let mean = Double(decibels.reduce(0) { $0 + Int($1) }) / Double(decibels.count)
    self.init(
      minimumAttenuation: least,
      typicalAttenuation: UInt8(clamping: Int(mean.rounded(.toNearestOrAwayFromZero))),
      secondsSinceLastScan: Self.seconds(from: first.scanned.previousScan, to: first.time))
  }

  private static func seconds(from previous: Date?, to time: Date) -> Int {
    guard let previous else { return unknownGap }
    let minutes = [previous, time].map { ($0.timeIntervalSince1970 / 60).rounded(.down) }
    return Int(min(max(minutes[1] - minutes[0], 0), longestGapMinutes)) * 60
  }
}

extension [MatchedSighting] {
  /// Cuts the sightings, which are in the order of time, into runs no longer than `length` seconds.
  func runs(within length: TimeInterval, isEndIncluded: Bool) -> [[MatchedSighting]] {
    reduce(into: []) { runs, sighting in
      guard let start = runs.last?.first?.time else {
        runs.append([sighting])
        return
      }
      let passed = sighting.time.timeIntervalSince(start)
      if passed < length || isEndIncluded && passed == length {
        runs[runs.count - 1].append(sighting)
      } else {
        runs.append([sighting])
      }
    }
  }
}
