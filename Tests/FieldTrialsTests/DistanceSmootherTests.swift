// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

@testable import FieldTrials

@Suite("Distances of NHS COVID-19")
struct DistanceSmootherTests {
  /// The published example of the smoother: logarithms of attenuations, one for each second.
  private static let observations: [Double?] = [
    nil, 4.17411483628451, 4.4031070780507395, 4.328546097488628, 4.2601062473100395,
    4.220570477970699, 4.16624909786391, 4.201804139521874, 4.279699043501633, 4.265813830062009,
    4.17482861142975, 4.240065076412635, 4.272051055120574, 4.15668386886749, 4.146032357856017,
  ]

  private func isEqual(_ values: [Double], _ expected: [Double]) -> Bool {
    values.count == expected.count && zip(values, expected).allSatisfy { abs($0 - $1) < 1e-4 }
  }

  @Test("The filter has the published means and variances")
  func filter() {
    let estimates = DistanceSmoother.filtered(Self.observations)
    #expect(
      isEqual(
        estimates.map(\.mean),
        [
          2.0, 3.11281975, 3.25116568, 3.25039652, 3.21769892, 3.16948161, 3.10003209, 3.04646132,
          3.02735491, 3.00281025, 2.94367877, 2.91109234, 2.89179044, 2.83036511, 2.76550021,
        ]))
    #expect(isEqual(Array(estimates.map(\.variance).prefix(3)), [10, 3.9988494, 3.1987703]))
  }

  @Test("The smoother has the published means and variances")
  func smoother() {
    let estimates = DistanceSmoother.smoothed(Self.observations)
    #expect(
      isEqual(
        estimates.map(\.mean),
        [
          1.50730615, 2.61527532, 2.77742298, 2.77594196, 2.77440818, 2.77293444, 2.77158016,
          2.77042747, 2.76942968, 2.76846866, 2.76757112, 2.76687887, 2.76629608, 2.76577513,
          2.76550021,
        ]))
    #expect(
      isEqual(
        Array(estimates.map(\.variance).suffix(3)), [2.26810931, 2.27693734, 2.28631914]))
  }

  @Test(
    "The median of a gamma distribution has its known values",
    arguments: [
      (0.1, 0.0005933911), (0.5, 0.2274682116), (1, 0.6931471806), (2, 1.6783469900),
      (4, 3.6720607489), (10, 9.6687146147),
    ])
  func median(shape: Double, expected: Double) {
    let median = DistanceSmoother.Estimate.median(shape: shape)
    #expect(abs(median - expected) < expected * 1e-4)
  }

  @Test("Near scans count nearly their time, far ones little, and scans without time nothing")
  func score() throws {
    func seconds(_ attenuation: UInt8, gap: Int = 120, scans: Int = 6) -> Double {
      var window = ExposureWindow()
      window.scanInstances = (0..<scans).map { _ in
        ScanInstance(
          minimumAttenuation: attenuation, typicalAttenuation: 90, secondsSinceLastScan: gap)
      }
      return window.secondsAtOneMeter
    }
    // An independent computation has 302.62 and 46.67.
    #expect(abs(seconds(35) - 302.62) < 0.01)
    #expect(abs(seconds(80) - 46.67) < 0.01)
    #expect(seconds(40) > seconds(60) && seconds(60) > seconds(80))
    #expect(seconds(35, gap: 0) == 0)
    #expect(seconds(0) > 0)
  }
}
