// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI

/// The result of a policy for exposure windows.
public struct WindowRisk: Hashable, Sendable {
  /// One day with at least one window that no filter dropped.
  public struct Day: Hashable, Sendable {
    /// 00:00 UTC.
    public let date: Date
    /// The duration of all scans of the day, in seconds, not weighted.
    public let seconds: Int
    /// The minutes, weighted by distance and transmission risk.
    public let normalizedTime: Double
    /// The level of the day; `nil` below the lowest level.
    public let level: WindowRiskLevel?
    /// The minimum number of different encounters, by the level of their windows; empty on a day
    /// without a level.
    public let encounters: [WindowRiskLevel: Int]
    /// The time by distance, from near to far.
    public let bands: [DistanceBand]
  }

  /// The days, oldest first.
  public let days: [Day]

  /// High if any day is high, otherwise low.
  public var total: WindowRiskLevel { days.compactMap(\.level).max() ?? .low }

  /// The days of `level`, oldest first.
  public func days(at level: WindowRiskLevel) -> [Date] {
    days.filter { $0.level == level }.map(\.date)
  }

  /// The minimum number of different encounters with `level`.
  public func encounterCount(at level: WindowRiskLevel) -> Int {
    days.reduce(0) { $0 + ($1.encounters[level] ?? 0) }
  }
}

/// The part of an exposure window that a policy reads.
public struct RiskWindow: Hashable, Sendable {
  /// One scan of the window.
  public struct Scan: Hashable, Sendable {
    /// The minimum attenuation, in dB; policies do not use the typical attenuation.
    public var minimumAttenuation: ENAttenuation
    /// The seconds since the previous scan; negative values count as 0.
    public var seconds: Int

    /// Creates a scan.
    public init(minimumAttenuation: ENAttenuation, seconds: Int) {
      self.minimumAttenuation = minimumAttenuation
      self.seconds = seconds
    }
  }

  /// The day, 00:00 UTC.
  public var date: Date
  /// The report type of the diagnosis.
  public var reportType: ENDiagnosisReportType
  /// The infectiousness of the diagnosed user on that day.
  public var infectiousness: ENInfectiousness
  /// The confidence in the sender's transmit power.
  public var calibrationConfidence: ENCalibrationConfidence
  /// The scans.
  public var scans: [Scan]

  /// Creates a window.
  public init(
    date: Date, reportType: ENDiagnosisReportType, infectiousness: ENInfectiousness,
    calibrationConfidence: ENCalibrationConfidence, scans: [Scan]
  ) {
    self.date = date
    self.reportType = reportType
    self.infectiousness = infectiousness
    self.calibrationConfidence = calibrationConfidence
    self.scans = scans
  }

  /// Copies a window of the framework.
  public init(_ window: ENExposureWindow) {
    self.init(
      date: window.date, reportType: window.diagnosisReportType,
      infectiousness: window.infectiousness, calibrationConfidence: window.calibrationConfidence,
      scans: window.scanInstances.map {
        Scan(minimumAttenuation: $0.minimumAttenuation, seconds: $0.secondsSinceLastScan)
      })
  }
}

extension RiskWindow {
  /// The minutes of the scans whose minimum attenuation is in `range`.
  func minutes(in range: PolicyRange) -> Double {
    scans.reduce(0) { sum, scan in
      range.contains(Double(scan.minimumAttenuation)) ? sum + scan.minutes : sum
    }
  }
}

extension RiskWindow.Scan {
  var minutes: Double { Double(max(0, seconds)) / 60 }
}

extension WindowRiskPolicy {
  /// Evaluates exposure windows; their order does not matter.
  public func risk(of windows: [RiskWindow]) -> WindowRisk {
    let days = Dictionary(grouping: windows.compactMap(evaluate), by: \.date)
    return WindowRisk(
      days: days.map { date, windows in day(date, windows) }.sorted { $0.date < $1.date })
  }

  /// The evaluation of a window that no filter dropped.
  private struct EvaluatedWindow {
    let date: Date
    let encounter: Encounter
    let scans: [RiskWindow.Scan]
    let seconds: Int
    let normalizedTime: Double
    let level: WindowRiskLevel?
  }

  /// The properties that tell encounters apart: equal windows may come from one person and count once.
  private struct Encounter: Hashable {
    let transmissionRiskLevel: Int
    let calibrationConfidence: ENCalibrationConfidence
  }

  private func evaluate(_ window: RiskWindow) -> EvaluatedWindow? {
    guard let level = trlEncoding.level(window.infectiousness, window.reportType),
      !isDropped(window, transmissionRiskLevel: level)
    else { return nil }
    let time = Self.rounded(transmissionRiskValue(of: level) * weightedMinutes(of: window))
    return EvaluatedWindow(
      date: window.date,
      encounter: Encounter(
        transmissionRiskLevel: level, calibrationConfidence: window.calibrationConfidence),
      scans: window.scans, seconds: window.scans.reduce(0) { $0 + max(0, $1.seconds) },
      normalizedTime: time,
      level: Self.level(of: time, in: normalizedTimePerEWToRiskLevelMapping))
  }

  private func day(_ date: Date, _ windows: [EvaluatedWindow]) -> WindowRisk.Day {
    // Sorted, because the order of the summands changes the rounding error.
    let time = Self.rounded(windows.map(\.normalizedTime).sorted().reduce(0, +))
    let level = Self.level(of: time, in: normalizedTimePerDayToRiskLevelMapping)
    let encounters = WindowRiskLevel.allCases.map { level in
      (level, Set(windows.filter { $0.level == level }.map(\.encounter)).count)
    }
    return WindowRisk.Day(
      date: date, seconds: windows.map(\.seconds).reduce(0, +), normalizedTime: time, level: level,
      encounters: level == nil ? [:] : Dictionary(uniqueKeysWithValues: encounters),
      bands: bands(of: windows.flatMap(\.scans)))
  }

  private func isDropped(_ window: RiskWindow, transmissionRiskLevel: Int) -> Bool {
    trlFilters.contains { $0.dropIfTrlInRange.contains(Double(transmissionRiskLevel)) }
      || minutesAtAttenuationFilters.contains { filter in
        filter.dropIfMinutesInRange.contains(
          Self.rounded(window.minutes(in: filter.attenuationRange)))
      }
  }

  private func weightedMinutes(of window: RiskWindow) -> Double {
    window.scans.reduce(0) { sum, scan in
      sum + weight(at: Double(scan.minimumAttenuation)) * scan.minutes
    }
  }

  /// The weight of a minute at `attenuation`: that of the first range that contains it.
  func weight(at attenuation: Double) -> Double {
    minutesAtAttenuationWeights.first { $0.attenuationRange.contains(attenuation) }?.weight ?? 0
  }

  private func transmissionRiskValue(of level: Int) -> Double {
    transmissionRiskValueMapping.first { $0.transmissionRiskLevel == level }?
      .transmissionRiskValue ?? 0
  }

  private static func level(of time: Double, in mapping: [LevelMapping]) -> WindowRiskLevel? {
    mapping.first { $0.normalizedTimeRange.contains(time) }?.riskLevel
  }

  /// Rounds to ten decimals: factors such as 0.3 are inexact in binary, and sums would miss range ends.
  private static func rounded(_ minutes: Double) -> Double {
    let scaled = (minutes * 1e10).rounded() / 1e10
    return scaled.isFinite ? scaled : minutes
  }
}

extension TransmissionRiskEncoding {
  /// The level of a window; `nil` without infectiousness or a report type that counts.
  func level(_ infectiousness: ENInfectiousness, _ reportType: ENDiagnosisReportType) -> Int? {
    guard let first = offset(of: infectiousness), let second = offset(of: reportType) else {
      return nil
    }
    return first + second
  }

  private func offset(of infectiousness: ENInfectiousness) -> Int? {
    switch infectiousness {
    case .none: nil
    case .standard: infectiousnessOffsetStandard
    case .high: infectiousnessOffsetHigh
    }
  }

  private func offset(of reportType: ENDiagnosisReportType) -> Int? {
    switch reportType {
    case .unknown, .revoked: nil
    case .confirmedTest: reportTypeOffsetConfirmedTest
    case .confirmedClinicalDiagnosis: reportTypeOffsetConfirmedClinicalDiagnosis
    case .selfReported: reportTypeOffsetSelfReport
    case .recursive: reportTypeOffsetRecursive
    }
  }
}
