// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules

/// Computes the one number of an encounter on which an app bases its decision.
package struct EncounterScoring: Sendable {
  private let method: Method

  private enum Method {
    case exposures(ExposureScoringV1)
    case windows(WindowRules, WindowScoring, WindowRule)
    case roundedRanges(WindowRules, WindowTable)
    case policy(WindowRules, WindowRiskPolicy)
    case distance(WindowRules)
    case naive(WindowRules)
  }

  /// - Throws: The framework's error if `published` is out of range.
  package init(_ published: PublishedConfiguration) throws(ENError) {
    let configuration = published.exposureConfiguration
    method =
      switch published.rule {
      case .exposures: .exposures(try ExposureScoringV1(configuration))
      case .windows(let table) where table.rule.roundsRangesUp:
        .roundedRanges(try WindowRules(configuration), table)
      case .windows(let table):
        .windows(try WindowRules(configuration), try WindowScoring(configuration), table.rule)
      case .policy(let policy): .policy(try WindowRules(configuration), policy)
      case .distance: .distance(try WindowRules(configuration))
      case .naive: .naive(try WindowRules(configuration))
      }
  }

  /// The framework's scoring with `configuration`, in which the infected participant counts as highly infectious.
  ///
  /// - Throws: The framework's error if the configuration is out of range.
  package init(_ configuration: ENExposureConfiguration, apiVersion: Int) throws(ENError) {
    let configuration = configuration.forInfectedParticipant
    method =
      switch apiVersion {
      case 1: .exposures(try ExposureScoringV1(configuration))
      default:
        .windows(try WindowRules(configuration), try WindowScoring(configuration), WindowRule())
      }
  }

  /// A policy, in which the infected participant counts as highly infectious by a laboratory test.
  ///
  /// - Throws: The framework's error; its rules for windows are valid.
  package init(_ policy: WindowRiskPolicy) throws(ENError) {
    method = .policy(try WindowRules(ENExposureConfiguration().forInfectedParticipant), policy)
  }

  /// The score. Version 1: the highest score of an exposure, 0...4,096. Version 2: the highest sum of a
  /// day, in weighted seconds.
  package func score(of encounter: Encounter) -> Double {
    switch method {
    case .exposures(let scoring):
      let result = scoring.result(of: encounter.matches, now: encounter.end)
      return Double(result.found.maximumScore.fullRange)
    case .windows(let rules, _, _), .roundedRanges(let rules, _), .policy(let rules, _),
      .distance(let rules), .naive(let rules):
      return score(of: encounter.matches.flatMap(rules.windows), today: encounter.end)
    }
  }

  /// The score of windows of version 2; 0 in version 1.
  func score(of windows: [ExposureWindow], today: Date) -> Double {
    switch method {
    case .exposures: return 0
    case .windows(_, let scoring, let rule):
      let days = scoring.days(of: windows, today: today).map(\.total)
      let scores = days.map { rule.takesHighestWindow ? $0.maximumScore : $0.scoreSum }
      return scores.max()?.double ?? 0
    case .roundedRanges(_, let table):
      let days = Dictionary(grouping: windows, by: \.date).values
      return days.map(table.scoreOfRoundedRanges).max() ?? 0
    case .policy(_, let policy): return policy.score(of: windows)
    case .distance: return windows.map(\.secondsAtOneMeter).max() ?? 0
    case .naive: return Double(windows.flatMap(\.scanInstances).reduce(0) { $0 + $1.closeness })
    }
  }
}

extension WindowTable {
  /// The weighted seconds of the windows of a day, after rounding the seconds in each range up to minutes.
  fileprivate func scoreOfRoundedRanges(_ windows: [ExposureWindow]) -> Double {
    var seconds = [Int](repeating: 0, count: weights.count)
    for scan in windows.flatMap(\.scanInstances) {
      let range = thresholds.firstIndex { Int(scan.typicalAttenuation) <= $0 } ?? thresholds.count
      seconds[range] += scan.secondsSinceLastScan
    }
    return zip(seconds, weights).reduce(0) { sum, range in
      sum + Double((range.0 + 59) / 60 * 60) * range.1 / 100
    }
  }
}

extension WindowRiskPolicy {
  /// The weighted seconds of the day with the most of them.
  fileprivate func score(of windows: [ExposureWindow]) -> Double {
    let days = Dictionary(grouping: windows, by: \.date).values
    let minutes = days.map { normalizedMinutes(ofDay: $0.compactMap(normalizedMinutes)) }
    return (minutes.max() ?? 0) * 60
  }

  /// The weighted minutes of a window; nil if the policy drops it.
  private func normalizedMinutes(of window: ExposureWindow) -> Double? {
    trlEncoding.level(
      infectiousness: window.infectiousness.rawValue,
      reportType: window.diagnosisReportType.rawValue
    ).flatMap { level in
      let scans = window.scanInstances.map {
        RiskScan(minimumAttenuation: $0.minimumAttenuation, seconds: $0.secondsSinceLastScan)
      }
      return normalizedMinutes(of: scans, transmissionRiskLevel: level)
    }
  }
}

extension ScanInstance {
  /// The attenuation from which a scan adds nothing to the naive score, in dB.
  private static let naiveLimit = 70

  /// The decibels below the limit.
  fileprivate var closeness: Int { max(0, Self.naiveLimit - Int(typicalAttenuation)) }
}

extension ExposureWindow {
  /// The seconds at a distance of at most one meter with the same risk, which falls with the square of the distance.
  ///
  /// The distance is estimated for each second from the first scan to the last one.
  var secondsAtOneMeter: Double {
    var observations: [Double?] = []
    for scan in scanInstances where scan.secondsSinceLastScan > 0 {
      if !observations.isEmpty {
        observations += Array(repeating: nil, count: scan.secondsSinceLastScan - 1)
      }
      let isKnown = scan.minimumAttenuation > 0
      observations.append(isKnown ? log(Double(scan.minimumAttenuation)) : nil)
    }
    return DistanceSmoother.smoothed(observations).reduce(0) { sum, estimate in
      let distance = estimate.gammaMedian
      return sum + min(1, 1 / (distance * distance))
    }
  }
}
