import ExposureKeys
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 2.
struct ReachTests {
  @Test("What is in reach is what a look at every interval says", arguments: 0..<60)
  func naive(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let bases: [UInt32] = [0, 5_000, .max - 1_000]
    let base = try required(bases.randomElement(using: &dice))
    let heard = (0..<Int.random(in: 0...12, using: &dice)).map { _ in
      base + UInt32.random(in: 0...800, using: &dice)
    }.sorted()
    let reach = Reach(of: heard)
    for _ in 0..<300 {
      let first = base + UInt32.random(in: 0...650, using: &dice)
      let last = first + UInt32.random(in: 0...143, using: &dice)
      let inReach = (first...last).filter { number in
        heard.contains { max($0, number) - min($0, number) <= 12 }
      }
      let span = reach.span(first, last)
      #expect(span?.first == inReach.first && span?.last == inReach.last, "\(first)...\(last)")
      if let span {
        let intervals = reach.intervals(of: span.group)
        #expect(intervals.contains(span.first) && intervals.contains(span.last))
        #expect(span.group < reach.groupCount)
      }
    }
  }

  @Test("Who heard nobody has nothing in reach")
  func nobody() {
    #expect(Reach(of: []).span(0, 143) == nil)
    #expect(Reach(of: []).groupCount == 0)
  }
}
