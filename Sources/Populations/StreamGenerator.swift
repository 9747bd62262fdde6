// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A fast reproducible generator for the draws of a model: SplitMix64, started from a seed and the numbers of a stream.
///
/// Each person, pair, day or phone has a stream of its own, so that no draw depends on the order of the work or on the
/// number of threads. It is not secret: never derive a key from it.
public struct StreamGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the generator of a stream; the same seed and numbers give the same draws.
  public init(seed: UInt64, _ stream: UInt64...) {
    state = Self.mixed(seed &+ Self.step)
    for number in stream { state = Self.mixed(state ^ Self.mixed(number &+ Self.step)) }
  }

  private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// A number from 0 to below 1.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// True with this probability.
  public mutating func happens(_ probability: Double) -> Bool { unit() < probability }

  /// A number of the range; all are equally likely.
  public mutating func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(unit() * Double(range.count))
  }

  /// A number of the range; all are equally likely.
  public mutating func number(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + unit() * (range.upperBound - range.lowerBound)
  }

  /// A normally distributed number with mean 0 and standard deviation 1.
  public mutating func normal() -> Double {
    // Box and Muller; the logarithm of 0 is avoided.
    (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
  }

  /// A lognormally distributed number with this mean and standard deviation.
  public mutating func lognormal(mean: Double, deviation: Double) -> Double {
    let variance = log(1 + deviation * deviation / (mean * mean))
    return exp(log(mean) - variance / 2 + variance.squareRoot() * normal())
  }

  /// A gamma distributed number (Marsaglia and Tsang, ACM TOMS 26, 2000).
  public mutating func gamma(shape: Double, scale: Double) -> Double {
    if shape < 1 {
      return gamma(shape: shape + 1, scale: scale) * pow(1 - unit(), 1 / shape)
    }
    let main = shape - 1.0 / 3
    let width = 1 / (9 * main).squareRoot()
    while true {
      let draw = normal()
      let cube = pow(1 + width * draw, 3)
      guard cube > 0 else { continue }
      if log(1 - unit()) < draw * draw / 2 + main - main * cube + main * log(cube) {
        return main * cube * scale
      }
    }
  }

  /// The index of one of `weights`, in proportion to them.
  public mutating func index(by weights: [Double]) -> Int {
    var rest = unit() * weights.reduce(0, +)
    for (index, weight) in weights.enumerated() {
      rest -= weight
      if rest < 0 { return index }
    }
    return weights.count - 1
  }
}
