// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules

/// An encounter with a diagnosed user, or one day of exposure windows. It contains no place and no name.
public struct Exposure: Codable, Hashable, Sendable, Identifiable {
  /// An ID for the app's lists.
  public internal(set) var id: UUID
  /// The day of the exposure.
  public let day: UTCDay
  /// The duration in seconds.
  public let durationSeconds: Double
  /// The full-range score, 0...4096; 0 for a day of exposure windows.
  public private(set) var riskScore: Int
  /// The policy's result for the day; `nil` if the score decides.
  public var judgement: DayRisk?
  /// The key files of the detection that found the encounter; `nil` for a day of exposure windows.
  var files: [AnalysedFile]?
  /// The time by distance, from near to far; empty if the framework does not report it.
  public var bands: [DistanceBand] = []

  private enum CodingKeys: String, CodingKey {
    case day = "date"
    case id, durationSeconds, riskScore, judgement, files, bands
  }

  /// Returns `true` if both may describe the same encounter: analysing a file again, a later edition of it or a roll-up
  /// that covers it repeats its encounters. Their scores may differ, because a score depends on the days since.
  ///
  /// Equal encounters of files of different periods are those of different people.
  func mayBeSame(as other: Exposure) -> Bool {
    day == other.day && durationSeconds == other.durationSeconds && sharesFile(with: other)
  }

  private func sharesFile(with other: Exposure) -> Bool {
    guard let files, let others = other.files else { return true }
    return files.contains { file in others.contains { $0.covers(file) || file.covers($0) } }
  }

  /// Takes the files and a higher score of `other`, which is the same encounter.
  mutating func merge(_ other: Exposure) {
    riskScore = max(riskScore, other.riskScore)
    guard let files, let others = other.files else { return }
    self.files = files.filter { file in !others.contains { $0.covers(file) } } + others
  }
}

/// A key file that was analysed, with the hash by which the health authority may withdraw it.
struct AnalysedFile: Codable, Hashable, Sendable {
  let name: String
  let hash: KeyFileHash

  /// Returns `true` if this file has the keys of `other`: it is another edition of it, or a roll-up of its period.
  func covers(_ other: AnalysedFile) -> Bool {
    guard let name = KeyFileName(name), let other = KeyFileName(other.name) else { return false }
    guard !name.isEdition(of: other) else { return true }
    guard let start = name.startTimestamp, let otherStart = other.startTimestamp else {
      return false
    }
    return start <= otherStart && other.endTimestamp <= name.endTimestamp
      && name.endTimestamp - start > other.endTimestamp - otherStart
  }
}

/// The result of a policy for one day of exposure windows.
public struct DayRisk: Codable, Hashable, Sendable {
  /// The level of the day; `nil` below the lowest level.
  public let level: WindowRiskLevel?
  /// The minutes, weighted by distance and transmission risk.
  public let normalizedMinutes: Double
}

/// The result of one detection.
struct DetectedExposures: Sendable {
  /// The number of keys that this phone has encountered.
  var matchedKeyCount = 0
  /// The encounters, or the days of exposure windows.
  var exposures: [Exposure] = []
  /// True if `exposures` covers all files of the last fourteen days, as in API version 2; false if it
  /// covers only the files of this detection.
  var coversAllFiles = false

  /// Notes the files of the detection on each encounter.
  mutating func mark(_ files: [URL]) {
    let analysed = files.compactMap { file in
      KeyFileHash(ofFile: file).map { AnalysedFile(name: file.lastPathComponent, hash: $0) }
    }
    for index in exposures.indices { exposures[index].files = analysed }
  }
}

/// A range of scores with its risk level and a sentence that explains the rule to a health authority.
public struct RiskRule: Sendable, Hashable {
  /// The explanation of the rule.
  public let message: String
  /// The scores that the rule applies to, within 0...4096.
  public let scores: ClosedRange<Int>
  /// The level of these scores.
  public let level: RiskLevel
}

extension RiskRule {
  /// The largest score: the product of four values of 8.
  public static let scoreMax = 4_096

  /// The table for `thresholds`, lowest level first. The ranges cover every score exactly once.
  public static func table(for thresholds: RiskScoreThresholds) -> [RiskRule] {
    let rows: [(message: String, from: Int, to: Int, level: RiskLevel)] = [
      ("Without a relevant encounter there is no risk.", 0, thresholds.maxNoRiskScore, .none),
      (
        "A short or distant encounter is a low risk.",
        thresholds.maxNoRiskScore + 1, thresholds.maxLowRiskScore, .low
      ),
      (
        "A longer or closer encounter is a moderate risk.",
        thresholds.maxLowRiskScore + 1, thresholds.maxMiddleRiskScore, .medium
      ),
      (
        "A quarter of an hour close by is a high risk.",
        thresholds.maxMiddleRiskScore + 1, scoreMax, .high
      ),
    ]
    return rows.compactMap { row in
      row.from <= row.to
        ? RiskRule(message: row.message, scores: row.from...row.to, level: row.level) : nil
    }
  }
}

/// Computes the risk level of scores and exposures.
package struct RiskAssessment {
  let rules: [RiskRule]

  package init(thresholds: RiskScoreThresholds) {
    rules = RiskRule.table(for: thresholds)
  }

  package func level(of score: Int) -> RiskLevel {
    let score = min(max(score, 0), RiskRule.scoreMax)
    return rules.first { $0.scores.contains(score) }?.level ?? .none
  }

  /// The level of the worst exposure of `oldest` or later; exposures are not added up.
  func level(of exposures: [Exposure], since oldest: Date) -> RiskLevel {
    exposures.filter { $0.day.start >= oldest }.map { level(of: $0) }.max() ?? .none
  }

  /// The level by the policy's result if there is one, otherwise by the score.
  func level(of exposure: Exposure) -> RiskLevel {
    guard let judgement = exposure.judgement else { return level(of: exposure.riskScore) }
    return judgement.level.map(RiskLevel.init) ?? .none
  }
}

/// The time of an exposure within one range of attenuation, which stands for a distance.
public struct DistanceBand: Codable, Hashable, Sendable {
  /// The highest attenuation of the range in dB; `nil` for the farthest range.
  public let maximumAttenuation: Int?
  /// The time within the range, in seconds.
  public let seconds: Int
  /// The weight of a minute within the range, in percent of the highest weight of the rules.
  public let weightPercent: Int

  /// Creates a band.
  public init(maximumAttenuation: Int?, seconds: Int, weightPercent: Int) {
    self.maximumAttenuation = maximumAttenuation
    self.seconds = seconds
    self.weightPercent = weightPercent
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    // The farthest range has `null`.
    try fields.encode(maximumAttenuation, forKey: .maximumAttenuation)
    try fields.encode(seconds, forKey: .seconds)
    try fields.encode(weightPercent, forKey: .weightPercent)
  }
}

extension DistanceBand {
  /// The bands of an exposure of API version 1, from near to far; empty if the framework reports no durations.
  ///
  /// The framework rounds the duration of an exposure up to minutes. The difference counts for the longest band, so
  /// that the bands add up to `total`.
  static func bands(
    seconds: [Int], total: Int, scoring: RiskScoringParameters
  ) -> [DistanceBand] {
    let limits: [Int?] = scoring.durationAtAttenuationThresholds + [nil]
    guard seconds.count == limits.count,
      let longest = seconds.indices.max(by: { seconds[$0] < seconds[$1] })
    else { return [] }
    var seconds = seconds
    seconds[longest] += total - seconds.reduce(0, +)
    guard seconds[longest] >= 0 else { return [] }
    return zip(limits, seconds).map { limit, seconds in
      DistanceBand(
        maximumAttenuation: limit, seconds: seconds,
        weightPercent: scoring.weightPercent(at: limit))
    }
  }
}

extension RiskScoringParameters {
  /// The lower ends of the framework's levels of attenuation, farthest first, in dB.
  private static let levelEnds = [73, 63, 51, 33, 27, 15, 10]
  private static let scoreMax = 8.0

  /// The value of the framework's attenuation table at the far end of a range, in percent of the highest value.
  fileprivate func weightPercent(at attenuation: Int?) -> Int {
    let level = attenuation.map { end in
      Self.levelEnds.firstIndex { end > $0 } ?? Self.levelEnds.count
    }
    let score = attenuationScores.indices.contains(level ?? 0) ? attenuationScores[level ?? 0] : 0
    return Int((Double(score) / Self.scoreMax * 100).rounded())
  }
}

extension WindowRiskPolicy {
  /// The bands of scans by the policy's weights, from near to far. Neighbouring attenuations with the same weight are
  /// in one band.
  func bands(of scans: [RiskWindow.Scan]) -> [DistanceBand] {
    let attenuations = Int(ENAttenuation.min)...Int(ENAttenuation.max)
    var seconds = [Int](repeating: 0, count: attenuations.count)
    for scan in scans { seconds[Int(scan.minimumAttenuation)] += max(0, scan.seconds) }
    var bands: [DistanceBand] = []
    var sum = 0
    for attenuation in attenuations {
      sum += seconds[attenuation]
      let weight = weight(at: Double(attenuation))
      let isLast = attenuation == attenuations.upperBound
      if isLast || self.weight(at: Double(attenuation + 1)) != weight {
        bands.append(
          DistanceBand(
            maximumAttenuation: isLast ? nil : attenuation, seconds: sum,
            weightPercent: Int((weight * 100).rounded())))
        sum = 0
      }
    }
    return bands
  }
}
