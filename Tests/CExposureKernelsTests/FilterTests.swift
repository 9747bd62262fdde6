// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import TestSupport
import Testing

@Suite("The filter has no false negatives")
struct FilterTests {
  private func identifiers(_ count: Int, seed: UInt64) -> [[UInt8]] {
    var chance = SeededGenerator(seed: seed)
    return (0..<count).map { _ in PublishedKey.bytes(16, from: &chance) }
  }

  private func held(_ kernels: Kernels, _ filter: Filter, _ identifiers: [[UInt8]]) -> Int {
    withUnsafePointer(to: filter.filter) {
      Int(ek_bare_probe(kernels.tier, $0, Array(identifiers.joined()), identifiers.count))
    }
  }

  @Test(
    "A filter of any size, from one word to the largest, holds all added identifiers",
    arguments: Kernels.available)
  func noFalseNegatives(_ kernels: Kernels) {
    let added = identifiers(400, seed: 31)
    for log2 in [0, 1, 5, 12, UInt32(EK_FILTER_LOG2_MAX)] {
      let filter = Filter(wordsLog2: log2, holding: added, secret: (0x1234, 0x9e37_79b9_7f4a_7c15))
      let missed = added.filter { !filter.mayHold($0) }
      #expect(missed.isEmpty)
      #expect(held(kernels, filter, added) == added.count)
    }
  }

  @Test("Every tier has the same false positives, and few of them", arguments: Kernels.available)
  func strangers(_ kernels: Kernels) {
    let filter = Filter(
      wordsLog2: 12, holding: identifiers(1_000, seed: 32), secret: (99, 0xfeed_face_cafe_f00d))
    let strangers = identifiers(20_001, seed: 33)
    let expected = strangers.count(where: filter.mayHold)
    #expect(held(kernels, filter, strangers) == expected)
    // A quarter of the words hold one identifier: 1 in 4 words, 2 of 32 bits, twice.
    #expect(expected < 20_001 / 300)
  }

  @Test("Another secret maps the same identifiers to other words")
  func secret() {
    let added = identifiers(200, seed: 34)
    let one = Filter(wordsLog2: 12, holding: added, secret: (1, 0x9e37_79b9_7f4a_7c15))
    let other = Filter(wordsLog2: 12, secret: (2, 0xd1b5_4a32_d192_ed03))
    for word in 0..<(1 << 12) { other.filter.words[word] = one.filter.words[word] }
    #expect(added.count(where: other.mayHold) < 20)
  }

  @Test(
    "Identifiers that all map to one word are all found, and only the received ones match",
    arguments: Kernels.available)
  func collisions(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 35)
    let keys = PublishedKey.random(33, from: &chance, length: 144...144)
    let all = try Oracle.candidates(of: keys)
    // One word with all bits set by unrelated identifiers.
    let filter = Filter(wordsLog2: 0, holding: identifiers(500, seed: 36), secret: (3, 5))
    #expect(Set(kernels.forward(keys, filter)) == all)
  }

  @Test(
    "Identifiers with the same first 8 bytes are equal for the filter, and both are candidates",
    arguments: Kernels.available)
  func sameHead(_ kernels: Kernels) {
    let key = PublishedKey(bytes: [UInt8](repeating: 4, count: 16), first: 1000, length: 144)
    let own = kernels.identifiers(
      of: kernels.identifierKeys(of: [key.bytes])[0], first: 1070, count: 1)[0]
    let twin = Array(own[..<8]) + [UInt8](repeating: 0xaa, count: 8)
    let filter = Filter(wordsLog2: 14, holding: [twin], secret: (8, 0x9e37_79b9_7f4a_7c15))
    #expect(kernels.forward([key], filter).map(\.interval).contains(1070))
    #expect(kernels.reverse([key], received: [twin]).isEmpty)
  }
}
