import Testing

@testable import firebreak

@Suite("Measured values")
struct SpreadTests {
  @Test("A percentile is the smallest value that so many in a hundred do not exceed")
  func percentiles() {
    let spread = Distribution((1...200).map(Double.init).shuffled())
    #expect(spread.percentile(50) == 100)
    #expect(spread.percentile(95) == 190)
    #expect(spread.percentile(99) == 198)
    #expect(spread.percentile(100) == 200)
    #expect(spread.percentile(0) == 1)
    #expect(Distribution([]).percentile(50) == 0)
    #expect(Distribution([4]).percentile(99) == 4)
  }

  @Test("Two draws of one distribution are alike, a shifted one and one of a single value are not")
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
