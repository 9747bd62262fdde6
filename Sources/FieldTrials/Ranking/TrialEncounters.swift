// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The encounters of all phones for which a score can be computed.
package struct TrialEncounters: Sendable {
  /// The encounters, in the order of trials and phones.
  package let phones: [PhoneEncounter]
  /// The names of all trials, including those without a phone that can be scored.
  package let trialNames: [String]
  /// The numbers of dropped phones, beacons and samples, by reason. Reasons that did not occur are absent.
  package let losses: [TrialLoss: Int]

  package init(of trials: [FieldTrial], options: TrialOptions) {
    var phones: [PhoneEncounter] = []
    var losses: [TrialLoss: Int] = [:]
    for (index, trial) in trials.enumerated() {
      let beacons = SentBeacons(of: trial, iPhonePower: options.iPhonePower)
      losses.merge(beacons.losses, uniquingKeysWith: +)
      for phone in trial.phones where phone.outcome != .sick {
        if let loss = phone.loss ?? (beacons.usable.isEmpty ? .phonesWithoutInfectedBeacon : nil) {
          losses[loss, default: 0] += 1
          continue
        }
        let encounter = Encounter(of: phone, in: trial, options: options, beacons: beacons)
        losses.merge(encounter.losses, uniquingKeysWith: +)
        phones.append(
          PhoneEncounter(
            trial: index, trialName: trial.name, phone: phone, encounter: encounter))
      }
    }
    self.phones = phones
    self.losses = losses
    trialNames = trials.map(\.name)
  }

  package var trialCount: Int { trialNames.count }
}

/// A phone that can be scored, and its encounter.
package struct PhoneEncounter: Sendable {
  /// The index of the trial.
  package let trial: Int
  /// The name of the trial.
  package let trialName: String
  package let phone: TrialPhone
  package let encounter: Encounter

  /// The windows of version 2. The sick participant counts as highly infectious by a laboratory test.
  package func windows(_ rules: WindowRules) -> [ExposureWindow] {
    encounter.matches.flatMap(rules.windows)
  }
}

extension TrialPhone {
  /// The reason for which this phone, which is not sick, cannot be scored; nil if it can.
  var loss: TrialLoss? {
    if isIPhone { return .phonesIPhone }
    return log.sightings.isEmpty ? .phonesWithoutSightings : nil
  }
}
