// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics
import TestSupport
import Testing
import World

@Suite("Counts that show no single user")
struct CoarseCountsTests {
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_200))

  private func counts(_ labels: [String] = ["a"], seed: UInt64 = 7) -> CoarseCounts {
    CoarseCounts(labels, clock: clock, randomness: TestRandomness(seed: seed))
  }

  private func endWindow() { clock.advance(by: CoarseCounts.windowSeconds) }

  @Test("Events are not shown before their window has ended")
  func late() {
    let counts = counts()
    for _ in 1...30 { counts.add("a") }
    #expect(counts.shown == ["a": 0])
    clock.advance(by: CoarseCounts.windowSeconds - 1)
    #expect(counts.shown == ["a": 0])
    clock.advance(by: 1)
    #expect(counts.shown == ["a": 30])
  }

  @Test("Ten events are always shown, and every count is a multiple of ten")
  func steps() {
    for seed in 1...100 {
      let counts = counts(seed: UInt64(seed))
      for number in 1...15 {
        for _ in 1...number { counts.add("a") }
        endWindow()
        let shown = counts.shown["a"] ?? -1
        #expect(shown % CoarseCounts.step == 0)
        if number == 10 { #expect(shown >= 10) }
      }
    }
  }

  @Test("One event changes a count with a probability of a tenth, again in each window")
  func single() {
    let randomness = TestRandomness(seed: 3)
    let counts = CoarseCounts(["a"], clock: clock, randomness: randomness)
    var (changes, before) = (0, 0)
    for _ in 1...5_000 {
      counts.add("a")
      endWindow()
      let shown = counts.shown["a"] ?? -1
      if shown != before { changes += 1 }
      before = shown
    }
    // Five standard deviations of a binomial distribution.
    #expect((394...606).contains(changes), "\(changes)")
    // The mean is preserved.
    #expect((3_940...6_060).contains(before), "\(before)")
  }

  @Test("Reading often tells no more: the rounding of a window is drawn once")
  func repeated() {
    for seed in 1...50 {
      let counts = counts(seed: UInt64(seed))
      for _ in 1...5 { counts.add("a") }
      endWindow()
      let first = counts.shown
      for _ in 1...20 { #expect(counts.shown == first) }
    }
  }

  @Test("A label that is not declared is shown only with a count")
  func labels() {
    let counts = counts()
    counts.add("b")
    #expect(counts.shown == ["a": 0])
    for _ in 1...9 { counts.add("b") }
    endWindow()
    #expect(counts.shown == ["a": 0, "b": 10])
  }

  @Test("After the clock was set back, events are shown when the next window begins")
  func setBack() {
    let counts = counts()
    for _ in 1...10 { counts.add("a") }
    clock.jump(by: -3_600)
    #expect(counts.shown == ["a": 10])
  }
}
