// SPDX-License-Identifier: Apache-2.0
import Testing
import World

@Suite("Randomness")
struct RandomnessTests {
  /// Returns the bytes 0, 1, 2, ..., so that results are predictable.
  private struct Counting: Randomness {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
  }

  @Test("The requested number of bytes is returned", arguments: [0, 1, 16, 32, 70_000])
  func count(_ count: Int) {
    #expect(SystemRandomness().bytes(count).count == count)
  }

  @Test("The system's bytes never repeat and use every value")
  func unpredictable() {
    let random = SystemRandomness()
    #expect(Set((0..<1_000).map { _ in random.bytes(16) }).count == 1_000)
    #expect(Set(random.bytes(100_000)).count == 256)
  }

  @Test("A number stays in its range and reaches both ends")
  func numbers() {
    let drawn = (0..<2_000).map { _ in SystemRandomness().number(in: 3...7) }
    #expect(Set(drawn) == [3, 4, 5, 6, 7])
    #expect(SystemRandomness().number(in: 9...9) == 9)
    #expect((0...Int.max).contains(SystemRandomness().number(in: 0...Int.max)))
  }

  @Test("Shuffling keeps every element and changes the order")
  func shuffling() {
    let sorted = Array(0..<1_000)
    let shuffled = SystemRandomness().shuffled(sorted)
    #expect(shuffled != sorted)
    #expect(shuffled.sorted() == sorted)
    #expect(SystemRandomness().shuffled([Int]()).isEmpty)
  }

  @Test("The same source gives the same results")
  func repeatable() {
    #expect(Counting().shuffled(0..<50) == Counting().shuffled(0..<50))
    #expect(Counting().number(in: 0...1_000) == Counting().number(in: 0...1_000))
  }
}
