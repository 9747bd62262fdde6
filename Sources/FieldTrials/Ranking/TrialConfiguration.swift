// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import RiskRules

/// A risk configuration that is applied to trials: a published one, or one from a file.
package struct TrialConfiguration: Sendable {
  /// The name in reports.
  package let name: String
  /// The publisher, or the file.
  package let source: String
  /// The version of the interface: 1 or 2.
  package let apiVersion: Int
  /// The score from which the system alerts; nil if it is not known.
  package let alert: AlertThreshold?
  let scoring: EncounterScoring

  /// - Throws: The framework's error if `published` is out of range.
  package init(_ published: PublishedConfiguration) throws(ENError) {
    name = published.name
    source = published.source
    apiVersion = published.apiVersion
    alert = published.alert
    scoring = try EncounterScoring(published)
  }

  /// A configuration from elsewhere.
  ///
  /// - Throws: The framework's error if `configuration` is out of range.
  package init(
    name: String, source: String, configuration: ENExposureConfiguration, apiVersion: Int,
    alert: AlertThreshold?
  ) throws(ENError) {
    self.name = name
    self.source = source
    self.apiVersion = apiVersion
    self.alert = alert
    scoring = try EncounterScoring(configuration, apiVersion: apiVersion)
  }

  /// A policy for exposure windows. Without `alert`, its high level alerts.
  ///
  /// - Throws: The framework's error; its rules for windows are valid.
  package init(
    name: String, source: String, policy: WindowRiskPolicy, alert: AlertThreshold? = nil
  ) throws(ENError) {
    self.name = name
    self.source = source
    apiVersion = 2
    self.alert = alert ?? AlertThreshold(highRiskOf: policy)
    scoring = try EncounterScoring(policy)
  }

  /// The published configurations and the baseline.
  ///
  /// - Throws: The framework's error if one of them is out of range.
  package static func published() throws(ENError) -> [TrialConfiguration] {
    var configurations: [TrialConfiguration] = []
    for published in PublishedConfiguration.all {
      configurations.append(try TrialConfiguration(published))
    }
    return configurations
  }
}
