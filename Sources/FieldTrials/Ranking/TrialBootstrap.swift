// SPDX-License-Identifier: Apache-2.0

/// Samples of trials with replacement, for confidence intervals (percentile bootstrap).
///
/// Trials are drawn and not phones, because the phones of a trial share the infected phone and the room. The same
/// seed gives the same samples, on any machine.
package struct TrialBootstrap: Sendable {
  /// The numbers of samples that can be chosen.
  package static let sampleCounts = 100...100_000
  /// The share of the samples in an interval.
  package static let confidence = 0.95

  package let seed: UInt64
  /// For each sample, how often each trial occurs.
  private let samples: [[Double]]

  /// The number of samples.
  package var sampleCount: Int { samples.count }

  package init(trialCount: Int, seed: UInt64 = 1, sampleCount: Int = 2_000) {
    self.seed = seed
    var generator = SplitMix64(state: seed)
    samples = (0..<sampleCount).map { _ in
      var counts = [Double](repeating: 0, count: trialCount)
      for _ in 0..<trialCount { counts[Int.random(in: 0..<trialCount, using: &generator)] += 1 }
      return counts
    }
  }

  /// The interval of the area; nil if no sample has both groups.
  package func interval(of pairs: TrialPairs) -> AreaInterval? {
    let areas = samples.compactMap(pairs.area(drawing:)).sorted()
    guard let last = areas.indices.last else { return nil }
    let tail = (1 - Self.confidence) / 2
    return AreaInterval(
      low: areas[Int((Double(last) * tail).rounded())],
      high: areas[Int((Double(last) * (1 - tail)).rounded())],
      unusedSamples: samples.count - areas.count)
  }
}

/// A 95 % confidence interval of an area under the curve.
package struct AreaInterval: Hashable, Sendable {
  package let low: Double
  package let high: Double
  /// The number of samples without a positive or without a negative, which have no area.
  package let unusedSamples: Int
}

/// The SplitMix64 generator. Not for keys.
private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
