// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The areas of all combinations of a sweep, best first.
///
/// All phones were used to order them, so the first area is too high for other phones. `LearnedConfiguration`
/// estimates it without this bias.
package struct SweepResult: Sendable {
  /// The number of combinations for which intervals are computed.
  package static let intervalCount = 20

  /// The combinations, best first; equal ones in the order of the sweep.
  package let rows: [SweepRow]

  /// - Throws: The framework's error; its rules for windows are valid.
  package init(
    _ sweep: ConfigurationSweep, of encounters: TrialEncounters, _ bootstrap: TrialBootstrap
  ) throws(ENError) {
    let phones = try SweepPhones(encounters)
    let areas = sweep.points.map { phones.pairs(by: $0).area }
    let order = areas.indices.sorted { ((areas[$0] ?? 0), $1) > ((areas[$1] ?? 0), $0) }
    rows = order.enumerated().map { rank, index in
      let point = sweep.points[index]
      let interval =
        rank < Self.intervalCount ? bootstrap.interval(of: phones.pairs(by: point)) : nil
      return SweepRow(point: point, area: areas[index], interval: interval)
    }
  }
}

/// One combination of a sweep.
package struct SweepRow: Sendable {
  package let point: SweepPoint
  /// The area under the curve; nil if one of the groups is empty.
  package let area: Double?
  /// The confidence interval; nil beyond the first rows.
  package let interval: AreaInterval?
}

/// The compared phones of all trials, ready for many combinations.
struct SweepPhones: Sendable {
  let trialCount: Int
  private let phones: [SweepPhone]

  /// - Throws: The framework's error; its rules for windows are valid.
  init(_ encounters: TrialEncounters) throws(ENError) {
    let rules = try WindowRules(ENExposureConfiguration().forInfectedParticipant)
    trialCount = encounters.trialCount
    phones = encounters.phones.filter { [.high, .none].contains($0.phone.outcome) }.map {
      SweepPhone(
        trial: $0.trial, isPositive: $0.phone.outcome == .high,
        seconds: AttenuationSeconds($0.windows(rules)))
    }
  }

  func scored(by point: SweepPoint) -> [ScoredPhone] {
    phones.map {
      ScoredPhone(
        trial: $0.trial, isPositive: $0.isPositive, score: $0.seconds.score(by: point))
    }
  }

  func pairs(by point: SweepPoint) -> TrialPairs {
    TrialPairs(scored(by: point), trialCount: trialCount)
  }
}

/// A compared phone.
private struct SweepPhone: Sendable {
  let trial: Int
  let isPositive: Bool
  let seconds: AttenuationSeconds
}
