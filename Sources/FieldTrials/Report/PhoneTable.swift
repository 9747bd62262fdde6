// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import ReportFormats

/// One row for each phone of the trials, with its scores by all configurations.
package struct PhoneTable: Sendable {
  /// The configurations, in the order of the scores of a row.
  package let configurations: [TrialConfiguration]
  package let rows: [PhoneRow]

  /// - Throws: The framework's error; its rules for windows are valid.
  package init(_ trials: [FieldTrial], _ ranking: FieldTrialRanking) throws(ENError) {
    let rules = try WindowRules(ENExposureConfiguration().forInfectedParticipant)
    let encounters = ranking.encounters.phones
    var rows: [PhoneRow] = []
    for (index, trial) in trials.enumerated() {
      for phone in trial.phones {
        let place = encounters.firstIndex { $0.trial == index && $0.phone.id == phone.id }
        let scans = place.map { encounters[$0].windows(rules).flatMap(\.scanInstances) } ?? []
        let scores = place.map { place in ranking.ranks.map { $0.scores[place] } }
        rows.append(PhoneRow(trial.name, phone, scans: scans, scores: scores))
      }
    }
    self.rows = rows
    configurations = ranking.ranks.map(\.configuration)
  }

  /// The table in CSV (RFC 4180), one line for each phone. Values that do not exist are empty.
  package var csv: String {
    let header =
      [
        "trial", "phone", "device", "alert", "labelled", "excluded", "scans", "seconds",
        "least_attenuation", "mean_attenuation",
      ] + configurations.map(\.name)
    let lines = rows.map { row in
      row.fields + (row.scores?.map { "\($0)" } ?? configurations.map { _ in "" })
    }
    return ([header] + lines).map { $0.map(CSVText.field).joined(separator: ",") + "\n" }.joined()
  }
}

/// A phone with its contact and scores.
package struct PhoneRow: Sendable {
  /// The name of the trial.
  package let trial: String
  /// The id of the phone.
  package let phone: String
  package let isIPhone: Bool
  /// The alert, corrected if the trial corrects it.
  package let alert: TrialOutcome
  package let labelled: TrialOutcome
  /// The reason why the phone has no score or is not compared; nil if it is compared.
  package let exclusion: PhoneExclusion?
  /// The scans that received the infected phone.
  package let scans: Int
  /// Their seconds.
  package let seconds: Int
  /// The least attenuation of a scan in dB.
  package let leastAttenuation: Int?
  /// The mean of the scans' mean attenuations in dB, rounded to tenths.
  package let meanAttenuation: Double?
  /// The scores by all configurations; nil if there are none.
  package let scores: [Double]?

  /// The fields of the CSV before the scores.
  fileprivate var fields: [String] {
    [
      trial, phone, isIPhone ? "iphone" : "android", alert.rawValue, labelled.rawValue,
      exclusion?.rawValue ?? "", "\(scans)", "\(seconds)",
      leastAttenuation.map { "\($0)" } ?? "", meanAttenuation.map { "\($0)" } ?? "",
    ]
  }

  init(_ trial: String, _ phone: TrialPhone, scans: [ScanInstance], scores: [Double]?) {
    self.trial = trial
    self.phone = phone.id
    isIPhone = phone.isIPhone
    alert = phone.outcome
    labelled = phone.labelledOutcome
    exclusion = PhoneExclusion(phone, isScored: scores != nil)
    self.scans = scans.count
    seconds = scans.reduce(0) { $0 + $1.secondsSinceLastScan }
    leastAttenuation = scans.map { Int($0.minimumAttenuation) }.min()
    let sum = scans.reduce(0) { $0 + Double($1.typicalAttenuation) }
    meanAttenuation = scans.isEmpty ? nil : (sum / Double(scans.count) * 10).rounded() / 10
    self.scores = scores
  }
}

/// A reason why a phone is not compared.
package enum PhoneExclusion: String, Sendable {
  /// The phone of the infected participant.
  case infected
  case iPhone = "iphone"
  case noSightings = "no sightings"
  /// No beacon of the infected phone is usable.
  case noInfectedBeacon = "no infected beacon"
  /// The phone has a score, but a low alert is neither positive nor negative.
  case lowAlert = "low alert"

  init?(_ phone: TrialPhone, isScored: Bool) {
    switch (phone.outcome, phone.loss) {
    case (.sick, _): self = .infected
    case (_, .phonesIPhone?): self = .iPhone
    case (_, .some): self = .noSightings
    case (_, nil) where !isScored: self = .noInfectedBeacon
    case (.low, nil): self = .lowAlert
    default: return nil
    }
  }
}
