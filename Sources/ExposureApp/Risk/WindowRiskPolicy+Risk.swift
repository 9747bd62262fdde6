import ExposureNotification
import Foundation

extension WindowRiskPolicy {
  /// What `windows` amount to, in any order. Documentation/App.md 4.5.
  public func risk(of windows: [RiskWindow]) -> WindowRisk {
    let days = Dictionary(grouping: windows.compactMap(judged), by: \.date)
    return WindowRisk(
      days: days.map { date, windows in day(date, windows) }.sorted { $0.date < $1.date })
  }

  /// A window that no filter drops, weighed.
  private struct JudgedWindow {
    let date: Date
    let encounter: Encounter
    let seconds: Int
    let normalizedTime: Double
    let level: WindowRiskLevel?
  }

  /// Windows that say the same here may be of one person, so together they count as one encounter.
  private struct Encounter: Hashable {
    let transmissionRiskLevel: Int
    let calibrationConfidence: ENCalibrationConfidence
  }

  private func judged(_ window: RiskWindow) -> JudgedWindow? {
    guard let level = trlEncoding.level(window.infectiousness, window.reportType),
      !isDropped(window, transmissionRiskLevel: level)
    else { return nil }
    let time = Self.rounded(transmissionRiskValue(of: level) * weightedMinutes(of: window))
    return JudgedWindow(
      date: window.date,
      encounter: Encounter(
        transmissionRiskLevel: level, calibrationConfidence: window.calibrationConfidence),
      seconds: window.scans.reduce(0) { $0 + max(0, $1.seconds) },
      normalizedTime: time,
      level: Self.level(of: time, in: normalizedTimePerEWToRiskLevelMapping))
  }

  private func day(_ date: Date, _ windows: [JudgedWindow]) -> WindowRisk.Day {
    // Sorted, as a sum of fractions may depend on their order.
    let time = Self.rounded(windows.map(\.normalizedTime).sorted().reduce(0, +))
    let level = Self.level(of: time, in: normalizedTimePerDayToRiskLevelMapping)
    let encounters = WindowRiskLevel.allCases.map { level in
      (level, Set(windows.filter { $0.level == level }.map(\.encounter)).count)
    }
    return WindowRisk.Day(
      date: date, seconds: windows.map(\.seconds).reduce(0, +), normalizedTime: time, level: level,
      encounters: level == nil ? [:] : Dictionary(uniqueKeysWithValues: encounters))
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
      let weight = minutesAtAttenuationWeights.first {
        $0.attenuationRange.contains(Double(scan.minimumAttenuation))
      }
      return sum + (weight?.weight ?? 0) * scan.minutes
    }
  }

  private func transmissionRiskValue(of level: Int) -> Double {
    transmissionRiskValueMapping.first { $0.transmissionRiskLevel == level }?
      .transmissionRiskValue ?? 0
  }

  private static func level(of time: Double, in mapping: [LevelMapping]) -> WindowRiskLevel? {
    mapping.first { $0.normalizedTimeRange.contains(time) }?.riskLevel
  }

  /// To ten decimals: 0.3 and 1.4 are no binary fractions, and their sums miss a boundary otherwise.
  private static func rounded(_ minutes: Double) -> Double {
    let scaled = (minutes * 1e10).rounded() / 1e10
    return scaled.isFinite ? scaled : minutes
  }
}
