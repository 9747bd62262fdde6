// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The seconds of an encounter at each attenuation, by day: the part of its windows that thresholds and weights use.
///
/// Thousands of configurations are scored with it, each in the time of four subtractions.
struct AttenuationSeconds: Sendable {
  /// For each day the seconds below each attenuation: element n counts attenuations less than n dB.
  private let below: [[Int]]

  init(_ windows: [ExposureWindow]) {
    let days = Dictionary(grouping: windows, by: \.date).values
    below = days.map { windows in
      var seconds = [Int](repeating: 0, count: 256)
      for scan in windows.flatMap(\.scanInstances) {
        seconds[Int(scan.typicalAttenuation)] += scan.secondsSinceLastScan
      }
      return seconds.reduce(into: [0]) { sums, next in sums.append((sums.last ?? 0) + next) }
    }
  }

  /// The highest sum of a day, in weighted seconds.
  func score(by point: SweepPoint) -> Double {
    below.map { below in
      let ends = point.thresholds.map { below[$0 + 1] } + [below[below.count - 1]]
      var (score, start) = (0.0, 0)
      for (end, weight) in zip(ends, point.weights) {
        score += Double(end - start) * weight
        start = end
      }
      return score / 100
    }.max() ?? 0
  }
}
