// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The published values of a configuration of version 2, and the rule by which its app combines windows.
package struct WindowTable: Hashable, Sendable {
  /// The upper ends of three ranges in dB, inclusive.
  let thresholds: [Int]
  /// The weights of the four ranges, in percent.
  let weights: [Double]
  /// The weight of high infectiousness, in percent.
  var highInfectiousness = 100.0
  /// The lowest score of a window that counts, in weighted seconds.
  var minimumScore = 0.0
  /// The rule by which the app combines windows.
  var rule = WindowRule()

  /// The table as the framework's type, for an infected person of high infectiousness.
  var configuration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.attenuationDurationThresholds = thresholds.map(NSNumber.init(value:))
    let weight = { weights.indices.contains($0) ? weights[$0] : 0 }
    configuration.immediateDurationWeight = weight(0)
    configuration.nearDurationWeight = weight(1)
    configuration.mediumDurationWeight = weight(2)
    configuration.otherDurationWeight = weight(3)
    configuration.infectiousnessHighWeight = highInfectiousness
    configuration.minimumRiskScoreFullRange = minimumScore
    return configuration.forInfectedParticipant
  }
}

extension ENExposureConfiguration {
  /// The configuration with a map in which the infected participant of a trial counts as highly infectious.
  ///
  /// Trials have no days since the onset of symptoms.
  package var forInfectedParticipant: ENExposureConfiguration {
    infectiousnessForDaysSinceOnsetOfSymptoms = [
      NSNumber(value: ENDaysSinceOnsetOfSymptomsUnknown):
        NSNumber(value: ENInfectiousness.high.rawValue)
    ]
    return self
  }
}

/// The rule by which an app combines the windows of a day; by default that of Apple's day summaries.
package struct WindowRule: Hashable, Sendable {
  /// True if the highest window of a day decides, and not the sum of the day.
  var takesHighestWindow = false
  /// True if the seconds of a day in each range are rounded up to minutes before they are weighted.
  var roundsRangesUp = false
}
