import ExposureNotification
import Foundation
import KeyServerAPI

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
}

extension DistanceBand {
  /// The bands of an exposure of API version 1, from near to far; empty if the framework reports no durations.
  ///
  /// The framework rounds the duration of an exposure up to minutes. The difference counts for the longest band, so
  /// that the bands add up to `total`.
  static func bands(
    seconds: [Int], total: Int, scoring: KeyServerAPI.RiskScoringParameters
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

extension KeyServerAPI.RiskScoringParameters {
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
