// SPDX-License-Identifier: Apache-2.0
import RiskRules

extension PublishedConfiguration {
  /// Configurations of health authorities for exposure windows, and of NHS COVID-19's first version.
  ///
  /// A configuration that counts attenuations below a threshold has the threshold minus 1, because attenuations are
  /// whole numbers.
  static let national =
    germany + [
      PublishedConfiguration(
        name: "NHS COVID-19 1", source: "England and Wales, January 2021",
        rule: .windows(
          WindowTable(
            thresholds: [55, 63, 63], weights: [100, 50, 0, 0],
            rule: WindowRule(takesHighestWindow: true))),
        alert: AlertThreshold(score: 120)),
      PublishedConfiguration(
        name: "NHS COVID-19 2", source: "England and Wales, version 3.9 of the app; distances",
        rule: .distance, alert: AlertThreshold(score: 100)),
      PublishedConfiguration(
        name: "SwissCovid", source: "Switzerland, September 2020",
        rule: .windows(
          WindowTable(
            thresholds: [54, 62, 62], weights: [100, 50, 0, 0],
            rule: WindowRule(roundsRangesUp: true))),
        alert: .fifteenMinutes),
      PublishedConfiguration(
        name: "CoronaMelder", source: "Netherlands, May 2022",
        rule: .windows(
          WindowTable(
            thresholds: [56, 62, 73], weights: [150, 100, 40, 0], minimumScore: 300)),
        alert: AlertThreshold(score: 900, isInclusive: false)),
      PublishedConfiguration(
        name: "Smittestopp 2", source: "Norwegian field study, Frontiers in Digital Health 731098",
        rule: .windows(WindowTable(thresholds: [58, 68, 68], weights: [200, 150, 0, 0])),
        alert: AlertThreshold(score: 780)),
    ]

  /// Corona-Warn-App, whose policies phones, console and conformance suite read as well.
  private static let germany = [
    PublishedConfiguration(
      name: "Corona-Warn-App 1.9", source: "Germany, November 2020", policy: .coronaWarnApp1_9),
    PublishedConfiguration(
      name: "Corona-Warn-App 1.15", source: "Germany, March 2021; high risk",
      policy: .coronaWarnApp1_15),
    PublishedConfiguration(
      name: "Corona-Warn-App 2.0", source: "Germany, April 2021; high risk",
      policy: .coronaWarnApp2_0),
  ]

  private init(name: String, source: String, policy: WindowRiskPolicy) {
    self.init(
      name: name, source: source, rule: .policy(policy), alert: AlertThreshold(highRiskOf: policy))
  }
}
