// SPDX-License-Identifier: Apache-2.0

// The arithmetic of a policy, without the framework's types: phones, the console's preview and field trials use the
// same code, and the key server reads policies without being able to name a contact.

extension WindowRiskPolicy {
  /// The minutes of a window, weighted by distance and transmission risk; `nil` if a filter drops the window.
  package func normalizedMinutes(of scans: [RiskScan], transmissionRiskLevel: Int) -> Double? {
    guard !isDropped(scans, transmissionRiskLevel: transmissionRiskLevel) else { return nil }
    let weighted = scans.reduce(0) { sum, scan in
      sum + weight(at: Double(scan.minimumAttenuation)) * scan.minutes
    }
    return Self.rounded(transmissionRiskValue(of: transmissionRiskLevel) * weighted)
  }

  /// The minutes of a day, from those of its windows in any order.
  package func normalizedMinutes(ofDay windows: [Double]) -> Double {
    // Sorted, because the order of the summands changes the rounding error.
    Self.rounded(windows.sorted().reduce(0, +))
  }

  /// The level of a window; `nil` below the lowest level.
  package func windowLevel(ofMinutes minutes: Double) -> WindowRiskLevel? {
    Self.level(of: minutes, in: normalizedTimePerEWToRiskLevelMapping)
  }

  /// The level of a day; `nil` below the lowest level.
  package func dayLevel(ofMinutes minutes: Double) -> WindowRiskLevel? {
    Self.level(of: minutes, in: normalizedTimePerDayToRiskLevelMapping)
  }

  /// The weight of a minute at `attenuation`: that of the first range that contains it.
  package func weight(at attenuation: Double) -> Double {
    minutesAtAttenuationWeights.first { $0.attenuationRange.contains(attenuation) }?.weight ?? 0
  }

  private func isDropped(_ scans: [RiskScan], transmissionRiskLevel: Int) -> Bool {
    trlFilters.contains { $0.dropIfTrlInRange.contains(Double(transmissionRiskLevel)) }
      || minutesAtAttenuationFilters.contains { filter in
        filter.dropIfMinutesInRange.contains(
          Self.rounded(scans.minutes(in: filter.attenuationRange)))
      }
  }

  private func transmissionRiskValue(of level: Int) -> Double {
    transmissionRiskValueMapping.first { $0.transmissionRiskLevel == level }?
      .transmissionRiskValue ?? 0
  }

  private static func level(of minutes: Double, in mapping: [LevelMapping]) -> WindowRiskLevel? {
    mapping.first { $0.normalizedTimeRange.contains(minutes) }?.riskLevel
  }

  /// Rounds to ten decimals: factors such as 0.3 are inexact in binary, and sums would miss range ends.
  private static func rounded(_ minutes: Double) -> Double {
    let scaled = (minutes * 1e10).rounded() / 1e10
    return scaled.isFinite ? scaled : minutes
  }
}

extension TransmissionRiskEncoding {
  /// The transmission risk level of a window; `nil` without infectiousness or a report type that counts.
  ///
  /// - Parameters:
  ///   - infectiousness: Apple's raw value: 1 standard, 2 high.
  ///   - reportType: Apple's raw value: 1 confirmed test, 2 clinical diagnosis, 3 self-report, 4 recursive.
  package func level(infectiousness: UInt32, reportType: UInt32) -> Int? {
    let byInfectiousness = [1: infectiousnessOffsetStandard, 2: infectiousnessOffsetHigh]
    let byReportType = [
      1: reportTypeOffsetConfirmedTest, 2: reportTypeOffsetConfirmedClinicalDiagnosis,
      3: reportTypeOffsetSelfReport, 4: reportTypeOffsetRecursive,
    ]
    guard let first = byInfectiousness[Int(infectiousness)],
      let second = byReportType[Int(reportType)]
    else { return nil }
    return first + second
  }
}
