// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules

/// A published risk configuration and its source.
package struct PublishedConfiguration: Sendable {
  /// The name in reports.
  package let name: String
  /// The publisher and the place of publication.
  package let source: String
  /// The values; all others are the framework's defaults.
  package let rule: Rule
  /// The score from which the system alerts; nil if none is published.
  package var alert: AlertThreshold?

  /// The values for one of the scoring methods.
  package enum Rule: Hashable, Sendable {
    /// Version 1: eight values for each level of attenuation, duration, days and transmission risk.
    case exposures(attenuation: [Int], duration: [Int], days: [Int], transmissionRisk: [Int])
    /// Version 2: ranges of attenuation and their weights.
    case windows(WindowTable)
    /// Version 2: a health authority's policy, which takes a scan's least attenuation.
    case policy(WindowRiskPolicy)
    /// The seconds at a distance of one meter that are as dangerous as a window, by estimated distances.
    case distance
    /// The decibels below 70 of each scan, summed: the baseline that a configuration should exceed.
    case naive
  }

  /// The version of the interface from which the score is computed: 1 or 2.
  package var apiVersion: Int {
    switch rule {
    case .exposures: 1
    case .windows, .policy, .distance, .naive: 2
    }
  }
}

extension PublishedConfiguration {
  /// All configurations that are compared.
  package static let all = windowConfigurations + exposureConfigurations + [naive]

  /// The baseline.
  package static let naive = PublishedConfiguration(
    name: "naive", source: "decibels below 70 of each scan, summed", rule: .naive)

  private static let windowConfigurations = symposium + national + frameworks

  private static let symposium = [
    PublishedConfiguration(
      name: "narrow net 1", source: "LFPH risk score symposium, November 2020",
      rule: .windows(WindowTable(thresholds: [55, 63, 70], weights: [150, 100, 40, 0])),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "narrow net 2", source: "LFPH risk score symposium, August 2021",
      rule: .windows(WindowTable(thresholds: [55, 67, 75], weights: [175, 100, 33, 0])),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "wide net 1", source: "LFPH risk score symposium, November 2020",
      rule: .windows(
        WindowTable(
          thresholds: [55, 70, 80], weights: [200, 100, 25, 0], highInfectiousness: 200)),
      alert: .fifteenMinutes),
    PublishedConfiguration(
      name: "wide net 2", source: "LFPH risk score symposium, August 2021",
      rule: .windows(WindowTable(thresholds: [55, 70, 80], weights: [200, 100, 25, 0])),
      alert: .fifteenMinutes),
  ]

  private static let frameworks = [
    PublishedConfiguration(
      name: "EN Express", source: "defaults of EN Express; threshold of its sample",
      rule: .windows(WindowTable(thresholds: [30, 50, 60], weights: [150, 100, 50, 0])),
      alert: AlertThreshold(score: 2_700)),
    PublishedConfiguration(
      name: "framework default", source: "a fresh ENExposureConfiguration",
      rule: .windows(WindowTable(thresholds: [50, 70, 90], weights: [100, 100, 100, 100]))),
  ]

  private static let exposureConfigurations = [
    poland,
    PublishedConfiguration(
      name: "Immuni", source: "Italy: defaults for iOS",
      rule: .exposures(
        attenuation: [0, 0, 3, 3, 3, 3, 3, 3], duration: [0, 0, 0, 0, 5, 5, 5, 5],
        days: [1, 1, 1, 1, 1, 1, 1, 1], transmissionRisk: [1, 1, 1, 1, 1, 1, 1, 1]),
      alert: AlertThreshold(score: 12)),
    PublishedConfiguration(
      name: "Apple's sample", source: "the server of Apple's sample app; also the defaults",
      rule: .exposures(
        attenuation: [1, 2, 3, 4, 5, 6, 7, 8], duration: [1, 2, 3, 4, 5, 6, 7, 8],
        days: [1, 2, 3, 4, 5, 6, 7, 8], transmissionRisk: [1, 2, 3, 4, 5, 6, 7, 8])),
  ]

  /// The values that a phone has until its first remote configuration.
  private static let poland: PublishedConfiguration = {
    let scores = RiskScoringParameters.protegoDefault
    return PublishedConfiguration(
      name: "ProteGO Safe", source: "Poland: defaults for iOS; the high level",
      rule: .exposures(
        attenuation: scores.attenuationScores, duration: scores.durationScores,
        days: scores.daysSinceLastExposureScores, transmissionRisk: scores.transmissionRiskScores),
      alert: AlertThreshold(
        score: Double(RiskScoreThresholds.protegoDefault.maxMiddleRiskScore + 1)))
  }()
}

extension PublishedConfiguration {
  /// The configuration in the framework's type.
  ///
  /// The sick participant counts as highly infectious by a laboratory test. It is the same factor for every
  /// phone, so it does not change the order.
  package var exposureConfiguration: ENExposureConfiguration {
    switch rule {
    case .exposures(let attenuation, let duration, let days, let transmissionRisk):
      let configuration = ENExposureConfiguration().forInfectedParticipant
      configuration.attenuationLevelValues = attenuation.map(NSNumber.init(value:))
      configuration.durationLevelValues = duration.map(NSNumber.init(value:))
      configuration.daysSinceLastExposureLevelValues = days.map(NSNumber.init(value:))
      configuration.transmissionRiskLevelValues = transmissionRisk.map(NSNumber.init(value:))
      return configuration
    case .windows(let table): return table.configuration
    case .policy, .distance, .naive: return ENExposureConfiguration().forInfectedParticipant
    }
  }
}
