// SPDX-License-Identifier: Apache-2.0
import RiskRules

extension WindowRiskPolicy {
  /// Corona-Warn-App from November 2020: windows of ten minutes below 73 dB.
  static let coronaWarnApp1_9 = coronaWarnApp(
    weights: [(0, 55, 1), (55, 63, 0.5)], highFrom: 15, dayLowFrom: 0,
    filters: [
      MinutesFilter(attenuationRange: .below(73), dropIfMinutesInRange: .below(10))
    ],
    trlFilters: [TransmissionRiskFilter(dropIfTrlInRange: PolicyRange(min: 1, max: 2))],
    values: (1...8).map { ($0, 0.2 * Double($0)) })

  /// From March 2021.
  static let coronaWarnApp1_15 = coronaWarnApp(
    weights: [(0, 55, 1), (55, 63, 0.5), (63, 73, 0.3)], highFrom: 15, dayLowFrom: 5,
    values: laterValues)

  /// From April 2021.
  static let coronaWarnApp2_0 = coronaWarnApp(
    weights: [(0, 63, 0.8), (63, 73, 1), (73, 79, 0.1)], highFrom: 9, dayLowFrom: 5,
    values: laterValues)

  /// The factors of the transmission risk levels since March 2021.
  private static let laterValues: [(Int, Double)] = [
    (1, 0), (2, 0), (3, 0.6), (4, 0.8), (5, 1), (6, 1.2), (7, 1.4), (8, 1.6),
  ]

  /// The values that all versions have, with those of one version.
  private static func coronaWarnApp(
    weights: [(min: Double, max: Double, weight: Double)], highFrom: Double, dayLowFrom: Double,
    filters: [MinutesFilter] = [], trlFilters: [TransmissionRiskFilter] = [],
    values: [(Int, Double)]
  ) -> WindowRiskPolicy {
    func levels(lowFrom: Double) -> [LevelMapping] {
      [
        LevelMapping(
          normalizedTimeRange: PolicyRange(min: lowFrom, max: highFrom, maxExclusive: true),
          riskLevel: .low),
        LevelMapping(normalizedTimeRange: PolicyRange(min: highFrom, max: 9_999), riskLevel: .high),
      ]
    }
    return WindowRiskPolicy(
      minutesAtAttenuationFilters: filters, trlFilters: trlFilters,
      minutesAtAttenuationWeights: weights.map {
        AttenuationWeight(
          attenuationRange: PolicyRange(min: $0.min, max: $0.max, maxExclusive: true),
          weight: $0.weight)
      },
      normalizedTimePerEWToRiskLevelMapping: levels(lowFrom: 0),
      normalizedTimePerDayToRiskLevelMapping: levels(lowFrom: dayLowFrom),
      trlEncoding: WindowRiskPolicy.standard.trlEncoding,
      transmissionRiskValueMapping: values.map {
        TransmissionRiskValue(transmissionRiskLevel: $0.0, transmissionRiskValue: $0.1)
      })
  }
}

extension PolicyRange {
  /// All numbers from 0 that are less than `max`.
  fileprivate static func below(_ max: Double) -> PolicyRange {
    PolicyRange(min: 0, max: max, maxExclusive: true)
  }
}
