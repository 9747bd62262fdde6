// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

/// At most 30 minutes of contact with one device.
package struct ExposureWindow: Hashable, Sendable {
  package var date = Date(timeIntervalSince1970: 0)
  /// The reliability of the sender's transmit power.
  package var calibrationConfidence = ENCalibrationConfidence.lowest
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  /// The infectiousness of the sender's user.
  package var infectiousness = ENInfectiousness.none
  /// The variant of the virus, if known; it does not influence scores.
  package var variantOfConcernType = ENVariantOfConcernType.typeUnknown
  /// The scans in the order of time.
  package var scanInstances: [ScanInstance] = []

  package init() {}
}

extension ExposureWindow {
  /// The window to score if it does not come from a detection. An unknown report type is replaced by
  /// `unstated`.
  ///
  /// Returns nil if the infectiousness is none, or the resulting report type is unknown or revoked.
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
  /// Sorts by the windows' content alone, so that the order does not show which windows belong to the same
  /// key.
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

/// The sightings of one device in one Bluetooth scan.
package struct ScanInstance: Hashable, Sendable {
  /// The lowest attenuation of the scan in dB.
  package let minimumAttenuation: UInt8
  /// The mean attenuation of the scan in dB, rounded.
  package let typicalAttenuation: UInt8
  /// Whole minutes since the previous scan, in seconds: 0...300.
  package let secondsSinceLastScan: Int

  package init(minimumAttenuation: UInt8, typicalAttenuation: UInt8, secondsSinceLastScan: Int) {
    self.minimumAttenuation = minimumAttenuation
    self.typicalAttenuation = typicalAttenuation
    self.secondsSinceLastScan = secondsSinceLastScan
  }
}

extension ExposureWindow {
  /// The length of a window in seconds, from its first sighting.
  package static let length: TimeInterval = 30 * 60
  /// The longest sum of the seconds of a window's scans: the first scan may count for the gap before it.
  static let longestSeconds = length + ScanInstance.longestGapMinutes * 60

  /// Divides the sightings of `match` into windows, in the order of time.
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
      window.scanInstances = ScanInstance.instances(of: sightings.scans)
      return window
    }
  }
}

/// The sightings of one key in one scan. Both API versions take attenuations from it.
package struct MatchedScan: Hashable, Sendable {
  /// The time of the first sighting.
  package let time: Date
  /// The time of the previous scan, if known.
  let previousScan: Date?
  /// The intervals of the identifiers that were received.
  let identifiers: Set<IntervalNumber>
  /// The lowest attenuation of the sightings: that of the nearest copy. An attacker who repeats a beacon with
  /// less power cannot raise it.
  let minimumAttenuation: Attenuation
  /// The mean attenuation of the sightings, rounded. Copies that are weaker than fading explains do not count.
  package let attenuation: Attenuation

  /// The largest difference in dB between two copies of a beacon in one scan that fading explains. Weaker copies
  /// are repetitions by other devices.
  static let fadingDecibels = 25

  /// Creates a scan; nil if `sightings`, which must be sorted by time, is empty.
  init?(_ sightings: [MatchedSighting]) {
    let all = sightings.map { Int($0.attenuation.decibels) }
    guard let first = sightings.first, let least = all.min() else { return nil }
    let own = all.filter { $0 - least <= Self.fadingDecibels }
    let mean = (Double(own.reduce(0, +)) / Double(own.count)).rounded(.toNearestOrAwayFromZero)
    time = first.time
    previousScan = first.scanned.previousScan
    identifiers = Set(sightings.map(\.sentIn))
    minimumAttenuation = Attenuation(decibels: UInt8(clamping: least))
    attenuation = Attenuation(decibels: UInt8(clamping: Int(mean)))
  }
}

extension ScanInstance {
  /// The limit of the time since the previous scan.
  static let longestGapMinutes = 5.0
  /// The seconds since the previous scan if it is not known.
  static let unknownGap = 120

  /// The scan instances of the scans of one window. Together they last at most as long as a device sends the
  /// received identifiers; the last ones are shortened.
  static func instances(of scans: [MatchedScan]) -> [ScanInstance] {
    var rest = Int(ReplayRule.longestDuration(of: scans))
    return scans.map { scan in
      let seconds = min(Self.seconds(from: scan.previousScan, to: scan.time), rest)
      rest -= seconds
      return ScanInstance(
        minimumAttenuation: scan.minimumAttenuation.decibels,
        typicalAttenuation: scan.attenuation.decibels, secondsSinceLastScan: seconds)
    }
  }

  private static func seconds(from previous: Date?, to time: Date) -> Int {
    guard let previous else { return unknownGap }
    let minutes = [previous, time].map { ($0.timeIntervalSince1970 / 60).rounded(.down) }
    return Int(min(max(minutes[1] - minutes[0], 0), longestGapMinutes)) * 60
  }
}

extension [MatchedSighting] {
  /// The scans of the sightings, which must be sorted by time.
  package var scans: [MatchedScan] {
    runs(within: ScannedSighting.scanDuration, isEndIncluded: true).compactMap(MatchedScan.init)
  }

  /// Divides the sightings, which must be sorted by time, into runs of at most `length` seconds.
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

/// Selects the keys with windows in API version 2, and determines infectiousness and report type.
package struct WindowRules: Hashable, Sendable {
  /// The valid days since the onset of symptoms in a map.
  package static let days = -14...14

  private let infectiousness: [Int: ENInfectiousness]
  private let unstatedReportType: ENDiagnosisReportType

  /// - Throws: `ENError.badParameter` with an explanation that names the field.
  package init(_ configuration: ENExposureConfiguration) throws(ENError) {
    let field = "infectiousnessForDaysSinceOnsetOfSymptoms"
    guard let map = configuration.infectiousnessForDaysSinceOnsetOfSymptoms else {
      throw ConfigurationFields.invalid(field, "is needed in version 2")
    }
    var infectiousness: [Int: ENInfectiousness] = [:]
    for (day, value) in map {
      let isUnknown = day.intValue == ENDaysSinceOnsetOfSymptomsUnknown
      guard isUnknown || Self.days.contains(day.intValue),
        let value = UInt32(exactly: value.intValue).flatMap(ENInfectiousness.init)
      else {
        throw ConfigurationFields.invalid(field, "needs days from -14 to 14 and values from 0 to 2")
      }
      infectiousness[day.intValue] = value
    }
    self.infectiousness = infectiousness
    unstatedReportType = configuration.reportTypeNoneMap
  }

  /// The days with an infectiousness other than none, with Apple's raw values.
  var map: [Int: UInt32] {
    infectiousness.filter { $0.value != .none }.mapValues(\.rawValue)
  }

  /// The windows of `match`; empty if the key is not infectious or its report type is excluded.
  package func windows(of match: KeyMatch) -> [ExposureWindow] {
    let stated = ENDiagnosisReportType(match.key.reportType)
    let reportType = stated == .unknown ? unstatedReportType : stated
    let day = match.key.usableDaysSinceOnset ?? ENDaysSinceOnsetOfSymptomsUnknown
    let infectiousness = infectiousness[day] ?? .none
    guard infectiousness != .none, ![.unknown, .revoked, .recursive].contains(reportType) else {
      return []
    }
    return ExposureWindow.windows(
      of: match, infectiousness: infectiousness, diagnosisReportType: reportType)
  }
}

extension DiagnosisKey {
  /// The valid days since the onset of symptoms. Others count as unknown.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14

  var usableDaysSinceOnset: Int? {
    daysSinceOnsetOfSymptoms.flatMap { Self.daysSinceOnset.contains($0) ? Int($0) : nil }
  }
}

extension ENDiagnosisReportType {
  /// The corresponding value of Apple's interface; nil becomes `unknown`.
  init(_ reportType: ReportType?) {
    self = reportType.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .unknown
  }
}

extension ENVariantOfConcernType {
  /// The corresponding value of Apple's interface; nil becomes `typeUnknown`.
  init(_ variant: VariantOfConcern?) {
    self = variant.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .typeUnknown
  }
}
