// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Estimates the distance of a phone for each second from attenuations, as NHS COVID-19 does.
///
/// An augmented unscented Kalman smoother with one-dimensional state. Its seven sigma points are the mean, and the
/// mean with the state, the transition noise or the observation noise moved by the square root of three variances.
/// With the published parameters the mean itself has no weight, and each of the others one sixth.
struct DistanceSmoother {
  /// A normal distribution.
  struct Estimate: Hashable, Sendable {
    var mean: Double
    var variance: Double
  }

  /// The published parameters, in meters.
  private static let start = Estimate(mean: 2, variance: 10)
  private static let transitionVariance = 0.1 * 0.1
  private static let observationVariance = 0.4947614361027773
  private static let slope = 0.1270547531082051
  private static let intercept = 4.2309333657856945
  private static let sigmaScale = 3.0

  /// The distances given all observations: logarithms of attenuations, one for each second, nil if missing.
  static func smoothed(_ observations: [Double?]) -> [Estimate] {
    var estimates = filtered(observations)
    for index in estimates.indices.dropLast().reversed() {
      estimates[index] = smoothed(estimates[index], next: estimates[index + 1])
    }
    return estimates
  }

  /// The distances given the observations up to each second.
  static func filtered(_ observations: [Double?]) -> [Estimate] {
    var estimates: [Estimate] = []
    for observation in observations {
      let points = estimates.last.map { SigmaPoints(of: $0).moved } ?? SigmaPoints(of: start)
      estimates.append(updated(points, observation))
    }
    return estimates
  }

  private static func updated(_ points: SigmaPoints, _ observation: Double?) -> Estimate {
    let predicted = points.estimate
    guard let observation else { return predicted }
    let output = points.observed
    let gain = points.covariance(with: output) / output.estimate.variance
    return Estimate(
      mean: predicted.mean + gain * (observation - output.estimate.mean),
      variance: predicted.variance - gain * points.covariance(with: output))
  }

  private static func smoothed(_ estimate: Estimate, next: Estimate) -> Estimate {
    let points = SigmaPoints(of: estimate)
    let moved = points.moved
    let predicted = moved.estimate
    let gain = moved.covariance(with: points) / predicted.variance
    return Estimate(
      mean: estimate.mean + gain * (next.mean - predicted.mean),
      variance: estimate.variance + gain * gain * (next.variance - predicted.variance))
  }

  /// The six weighted sigma points. The third and the last one of each sign equal the mean unless moved.
  private struct SigmaPoints {
    /// The state, the transition and the observation, each moved up and down.
    private var state: (up: Double, down: Double)
    private var transition: (up: Double, down: Double)
    private var observation: (up: Double, down: Double)

    init(of estimate: Estimate) {
      let step = (sigmaScale * estimate.variance).squareRoot()
      state = (estimate.mean + step, estimate.mean - step)
      transition = (estimate.mean, estimate.mean)
      observation = transition
    }

    /// The points a second later: a step of a random walk that does not pass the origin.
    var moved: SigmaPoints {
      let noise = (sigmaScale * transitionVariance).squareRoot()
      var points = self
      points.state = (abs(state.up), abs(state.down))
      points.transition = (abs(transition.up + noise), abs(transition.down - noise))
      points.observation = (abs(observation.up), abs(observation.down))
      return points
    }

    /// The expected logarithms of attenuations at the points.
    var observed: SigmaPoints {
      let noise = (sigmaScale * observationVariance).squareRoot()
      let output = { (distance: Double) in slope * log(abs(distance)) + intercept }
      var points = self
      points.state = (output(state.up), output(state.down))
      points.transition = (output(transition.up), output(transition.down))
      points.observation = (output(observation.up) + noise, output(observation.down) - noise)
      return points
    }

    var estimate: Estimate {
      Estimate(mean: mean, variance: covariance(with: self))
    }

    private var mean: Double {
      (state.up + state.down + transition.up + transition.down + observation.up
        + observation.down) / 6
    }

    func covariance(with other: SigmaPoints) -> Double {
      let (mean, otherMean) = (mean, other.mean)
      func product(_ first: Double, _ second: Double) -> Double {
        (first - mean) * (second - otherMean)
      }
      let states = product(state.up, other.state.up) + product(state.down, other.state.down)
      let transitions =
        product(transition.up, other.transition.up)
        + product(transition.down, other.transition.down)
      let observations =
        product(observation.up, other.observation.up)
        + product(observation.down, other.observation.down)
      return (states + transitions + observations) / 6
    }
  }
}

extension DistanceSmoother.Estimate {
  /// The median of the gamma distribution with this mean and variance.
  var gammaMedian: Double {
    let shape = mean * mean / variance
    return Self.median(shape: shape) * variance / mean
  }

  /// The median of a gamma distribution of scale 1: an asymptotic series, or Newton's method for small shapes.
  static func median(shape: Double) -> Double {
    if shape >= 4 {
      return shape - 1 / 3.0 + 8 / (405 * shape) + 184 / (25_515 * shape * shape)
    }
    // The first term of the distribution function is exact at 0 and an upper bound of the function.
    let logGamma = log(tgamma(shape + 1))
    var value = exp((log(0.5) + logGamma) / shape)
    for _ in 0..<60 {
      let (share, density) = distribution(shape, at: value, logGamma)
      let step = (0.5 - share) / density
      value += step
      if abs(step) < value * 1e-12 { break }
    }
    return value
  }

  /// The distribution function by its power series, and the density.
  private static func distribution(
    _ shape: Double, at value: Double, _ logGamma: Double
  ) -> (share: Double, density: Double) {
    let first = exp(shape * log(value) - value - logGamma)
    var (term, sum, index) = (1.0, 1.0, 1.0)
    while term > sum * 1e-15 {
      term *= value / (shape + index)
      sum += term
      index += 1
    }
    return (first * sum, first * shape / value)
  }
}
