// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// A published risk configuration and its source.
package struct PublishedConfiguration: Sendable {
  /// The name in reports.
  package let name: String
  /// The publisher and the place of publication.
  package let source: String
  /// The values; all others are the framework's defaults.
  package let rule: Rule

  /// The values for one of the two scoring methods.
  package enum Rule: Hashable, Sendable {
    /// Version 1: eight values for each level of attenuation, duration, days and transmission risk.
    case exposures(attenuation: [Int], duration: [Int], days: [Int], transmissionRisk: [Int])
    /// Version 2: the upper ends of three ranges in dB, and the weights of four ranges in percent.
    case windows(thresholds: [Int], weights: [Double])
  }

  /// The version of the interface: 1 or 2.
  package var apiVersion: Int {
    switch rule {
    case .exposures: 1
    case .windows: 2
    }
  }
}

extension PublishedConfiguration {
  /// All configurations that are compared.
  package static let all = windowConfigurations + exposureConfigurations

  private static let windowConfigurations = [
    PublishedConfiguration(
      name: "narrow net 1", source: "LFPH risk score symposium, November 2020",
      rule: .windows(thresholds: [55, 63, 70], weights: [150, 100, 40, 0])),
    PublishedConfiguration(
      name: "narrow net 2", source: "LFPH risk score symposium, August 2021",
      rule: .windows(thresholds: [55, 67, 75], weights: [175, 100, 33, 0])),
    PublishedConfiguration(
      name: "wide net", source: "LFPH risk score symposium, November 2020 and August 2021",
      rule: .windows(thresholds: [55, 70, 80], weights: [200, 100, 25, 0])),
    PublishedConfiguration(
      name: "Smittestopp 2", source: "Norwegian field study, Frontiers in Digital Health 731098",
      rule: .windows(thresholds: [58, 68, 68], weights: [200, 150, 0, 0])),
    PublishedConfiguration(
      name: "EN Express", source: "defaults of Apple's and Google's EN Express",
      rule: .windows(thresholds: [30, 50, 60], weights: [150, 100, 50, 0])),
    PublishedConfiguration(
      name: "framework default", source: "a fresh ENExposureConfiguration",
      rule: .windows(thresholds: [50, 70, 90], weights: [100, 100, 100, 100])),
  ]

  private static let exposureConfigurations = [
    PublishedConfiguration(
      name: "ProteGO Safe", source: "ProteGO Safe's defaults for iOS",
      rule: .exposures(
        attenuation: [2, 5, 6, 7, 8, 8, 8, 8], duration: [0, 5, 6, 7, 8, 8, 8, 8],
        days: [7, 8, 8, 8, 8, 8, 8, 8], transmissionRisk: [8, 8, 8, 8, 8, 8, 8, 8])),
    PublishedConfiguration(
      name: "Apple's sample", source: "the server of Apple's sample app; also the defaults",
      rule: .exposures(
        attenuation: [1, 2, 3, 4, 5, 6, 7, 8], duration: [1, 2, 3, 4, 5, 6, 7, 8],
        days: [1, 2, 3, 4, 5, 6, 7, 8], transmissionRisk: [1, 2, 3, 4, 5, 6, 7, 8])),
  ]
}

extension PublishedConfiguration {
  /// The configuration in the framework's type.
  ///
  /// The sick participant counts as highly infectious by a laboratory test, at full weight. It is the same
  /// factor for every phone, so it does not change the order.
  package var exposureConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [
      NSNumber(value: ENDaysSinceOnsetOfSymptomsUnknown):
        NSNumber(value: ENInfectiousness.high.rawValue)
    ]
    switch rule {
    case .exposures(let attenuation, let duration, let days, let transmissionRisk):
      configuration.attenuationLevelValues = attenuation.map(NSNumber.init(value:))
      configuration.durationLevelValues = duration.map(NSNumber.init(value:))
      configuration.daysSinceLastExposureLevelValues = days.map(NSNumber.init(value:))
      configuration.transmissionRiskLevelValues = transmissionRisk.map(NSNumber.init(value:))
    case .windows(let thresholds, let weights):
      configuration.attenuationDurationThresholds = thresholds.map(NSNumber.init(value:))
      let weight = { weights.indices.contains($0) ? weights[$0] : 0 }
      configuration.immediateDurationWeight = weight(0)
      configuration.nearDurationWeight = weight(1)
      configuration.mediumDurationWeight = weight(2)
      configuration.otherDurationWeight = weight(3)
    }
    return configuration
  }
}
