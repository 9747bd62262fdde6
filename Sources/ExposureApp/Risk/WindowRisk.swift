// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules

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
  public typealias Scan = RiskScan

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
    guard
      let level = trlEncoding.level(
        infectiousness: window.infectiousness.rawValue, reportType: window.reportType.rawValue),
      let time = normalizedMinutes(of: window.scans, transmissionRiskLevel: level)
    else { return nil }
    return EvaluatedWindow(
      date: window.date,
      encounter: Encounter(
        transmissionRiskLevel: level, calibrationConfidence: window.calibrationConfidence),
      scans: window.scans, seconds: window.scans.reduce(0) { $0 + max(0, $1.seconds) },
      normalizedTime: time, level: windowLevel(ofMinutes: time))
  }

  private func day(_ date: Date, _ windows: [EvaluatedWindow]) -> WindowRisk.Day {
    let time = normalizedMinutes(ofDay: windows.map(\.normalizedTime))
    let level = dayLevel(ofMinutes: time)
    let encounters = WindowRiskLevel.allCases.map { level in
      (level, Set(windows.filter { $0.level == level }.map(\.encounter)).count)
    }
    return WindowRisk.Day(
      date: date, seconds: windows.map(\.seconds).reduce(0, +), normalizedTime: time, level: level,
      encounters: level == nil ? [:] : Dictionary(uniqueKeysWithValues: encounters),
      bands: bands(of: windows.flatMap(\.scans)))
  }
}
