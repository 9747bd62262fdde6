import ExposureKeys
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

extension ExposureWindow {
  /// The window as it counts where it did not come from a detection: one that does not state its
  /// report counts as `unstated`; nil where nobody was infectious, or the report is unknown all the
  /// same or was revoked (Documentation/RiskScoring.md 7.1 and 7.2).
  package func counted(unstatedAs unstated: ENDiagnosisReportType) -> ExposureWindow? {
    var window = self
    if diagnosisReportType == .unknown { window.diagnosisReportType = unstated }
    guard infectiousness != .none,
      window.diagnosisReportType != .unknown, window.diagnosisReportType != .revoked
    else { return nil }
    return window
  }
}

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

/// What one Bluetooth scan heard of one phone.
package struct ScanInstance: Hashable, Sendable {
  /// The least attenuation of the scan, in dB.
  package let minimumAttenuation: UInt8
  /// The mean attenuation of the scan, in dB, rounded to the nearest.
  package let typicalAttenuation: UInt8
  /// Seconds since the scan before: whole minutes, 0...300.
  package let secondsSinceLastScan: Int

  /// A scan with these figures.
  package init(minimumAttenuation: UInt8, typicalAttenuation: UInt8, secondsSinceLastScan: Int) {
    self.minimumAttenuation = minimumAttenuation
    self.typicalAttenuation = typicalAttenuation
    self.secondsSinceLastScan = secondsSinceLastScan
  }
}

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
      window.scanInstances = sightings.runs(within: ScannedSighting.scanDuration, isEndIncluded: true)
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
