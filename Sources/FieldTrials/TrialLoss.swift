// SPDX-License-Identifier: Apache-2.0

/// A reason for which recorded content has no influence on the scores.
package enum TrialLoss: String, CaseIterable, Sendable {
  /// iPhones, which log no sightings.
  case phonesIPhone
  /// Other phones without sightings.
  case phonesWithoutSightings
  /// Phones in trials without a usable beacon of an infected phone.
  case phonesWithoutInfectedBeacon
  /// Beacons of infected phones with a withheld identifier.
  case beaconsIdentifierWithheld
  /// Beacons of infected phones for which neither log nor setup states a transmit power.
  case beaconsPowerUnknown
  /// Beacons of infected phones with a transmit power that no real phone has.
  case beaconsPowerImplausible
  /// Samples of infected phones from before the start or after the end of the trial.
  case samplesOutsideTrial
  /// Samples of infected phones more than two hours from the interval of their identifier.
  case samplesWrongInterval
  /// Samples of infected phones whose identifier was first received more than 20 minutes earlier.
  case samplesReplayed

  /// The reason as words of a list, after a number.
  package var text: String {
    switch self {
    case .phonesIPhone: "iPhones (they log no sightings)"
    case .phonesWithoutSightings: "other phones without sightings"
    case .phonesWithoutInfectedBeacon:
      "phones in trials without a usable beacon of the infected phone"
    case .beaconsIdentifierWithheld: "beacons of infected phones with a withheld identifier"
    case .beaconsPowerUnknown: "beacons of infected phones with unknown transmit power"
    case .beaconsPowerImplausible: "beacons of infected phones with implausible transmit power"
    case .samplesOutsideTrial: "samples outside of the time of the trial"
    case .samplesWrongInterval: "samples more than two hours from the identifier's interval"
    case .samplesReplayed: "samples of identifiers older than 20 minutes"
    }
  }
}
