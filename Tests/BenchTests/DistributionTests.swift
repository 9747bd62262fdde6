// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Bench

@Suite("Distribution of measured values")
struct DistributionTests {
  @Test("Percentiles are nearest-rank")
  func percentiles() {
    let values = Distribution((1...200).map(Double.init).shuffled())
    #expect(values.percentile(50) == 100)
    #expect(values.percentile(95) == 190)
    #expect(values.percentile(99) == 198)
    #expect(values.percentile(100) == 200)
    #expect(values.percentile(0) == 1)
    #expect(Distribution([]).percentile(50) == 0)
    #expect(Distribution([4]).percentile(99) == 4)
  }

  @Test("Samples of one distribution are alike, shifted and constant ones are not")
  func likeness() {
    let one = Distribution((0..<1_000).map { Double($0 % 97) })
    let other = Distribution((0..<900).map { Double($0 * 7 % 97) })
    #expect(one.isLike(other))
    #expect(!one.isLike(Distribution((0..<900).map { Double($0 * 7 % 97 + 12) })))
    #expect(!one.isLike(Distribution(Array(repeating: 48, count: 900))))
    #expect(!one.isLike(Distribution([])))
    #expect(abs(one.distance(to: one)) < 0.000_001)
  }
}
