// SPDX-License-Identifier: Apache-2.0
import RiskRules

extension PublishedConfiguration {
  /// Configurations of health authorities for exposure windows, and of NHS COVID-19's first version.
  ///
  /// A configuration that counts attenuations below a threshold has the threshold minus 1, because attenuations are
  /// whole numbers.
  static let national = germany + unitedKingdom + dp3t + nordic + others

  private static let unitedKingdom = [
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
  ]

  /// Apps with the rules of the DP-3T library, which rounds the seconds of a range up to minutes.
  private static let dp3t = [
    roundedUp("SwissCovid", "Switzerland, September 2020", [54, 62, 62], [100, 50, 0, 0]),
    roundedUp("Radar COVID 1", "Spain, September 2020", [54, 73, 73], [100, 50, 0, 0]),
    roundedUp("Radar COVID 2", "Spain, April 2021", [54, 73, 73], [200, 100, 0, 0]),
  ]

  private static func roundedUp(
    _ name: String, _ source: String, _ thresholds: [Int], _ weights: [Double]
  ) -> PublishedConfiguration {
    PublishedConfiguration(
      name: name, source: source,
      rule: .windows(
        WindowTable(
          thresholds: thresholds, weights: weights, rule: WindowRule(roundsRangesUp: true))),
      alert: .fifteenMinutes)
  }

  private static let nordic = [
    PublishedConfiguration(
      name: "Koronavilkku 2", source: "Finland, April 2021",
      rule: .windows(
        WindowTable(thresholds: [51, 63, 70], weights: [125, 100, 50, 0], minimumScore: 1)),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "Smittestopp 2", source: "Norwegian field study, Frontiers in Digital Health 731098",
      rule: .windows(WindowTable(thresholds: [58, 68, 68], weights: [200, 150, 0, 0])),
      alert: AlertThreshold(score: 780)),
    PublishedConfiguration(
      name: "Smittestopp 2 server", source: "Norway, April 2021: values of the server",
      rule: .windows(WindowTable(thresholds: [57, 68, 80], weights: [200, 150, 0, 0])),
      alert: AlertThreshold(score: 780)),
  ]

  private static let others = [
    PublishedConfiguration(
      name: "CoronaMelder", source: "Netherlands, May 2022",
      rule: .windows(
        WindowTable(thresholds: [56, 62, 73], weights: [150, 100, 40, 0], minimumScore: 300)),
      alert: AlertThreshold(score: 900, isInclusive: false)),
    PublishedConfiguration(
      name: "COCOA 2", source: "Japan, January 2022; without its second limit of 900 s of scans",
      rule: .windows(WindowTable(thresholds: [46, 60, 65], weights: [100, 250, 130, 1])),
      alert: AlertThreshold(score: 1_350)),
    PublishedConfiguration(
      name: "COVID Alert", source: "Canada: defaults of the app",
      rule: .windows(WindowTable(thresholds: [50, 62, 62], weights: [100, 100, 0, 0])),
      alert: AlertThreshold(score: 900, isInclusive: false)),
    PublishedConfiguration(
      name: "covidgreen 1", source: "the family of Ireland's app; its threshold",
      rule: .windows(WindowTable(thresholds: [56, 62, 62], weights: [100, 100, 0, 0])),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "covidgreen 2", source: "recommended by its plugin for version 2",
      rule: .windows(
        WindowTable(thresholds: [56, 59, 62], weights: [100, 75, 50, 0], minimumScore: 1)),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "eRouska 2", source: "Czechia",
      rule: .windows(WindowTable(thresholds: [55, 63, 75], weights: [150, 100, 17, 0])),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "Stopp Corona", source: "Austria: a point is 75 s, and seven points alert",
      rule: .windows(WindowTable(thresholds: [33, 63, 255], weights: [200, 50, 25, 25])),
      alert: AlertThreshold(score: 525)),
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
