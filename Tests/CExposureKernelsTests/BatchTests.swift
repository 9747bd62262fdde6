// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import TestSupport
import Testing

@Suite("Every tier agrees with the portable tier for any batch")
struct BatchTests {
  /// Identifiers that a phone received: of random keys at random intervals, and unrelated ones.
  private func received(
    of keys: [PublishedKey], _ count: Int, from chance: inout SeededGenerator
  ) -> [[UInt8]] {
    var all: Set<[UInt8]> = []
    for key in keys where key.length > 0 && all.count < count {
      let offset = UInt32.random(in: 0..<UInt32(key.length), using: &chance)
      let identifierKey = Kernels.portable.identifierKeys(of: [key.bytes])[0]
      all.formUnion(
        Kernels.portable.identifiers(of: identifierKey, first: key.first &+ offset, count: 1))
    }
    while all.count < count { all.insert(PublishedKey.bytes(16, from: &chance)) }
    return all.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test(
    "Batches of 0 to 70 keys give the same candidates, forward and in reverse",
    arguments: Kernels.available)
  func sizes(_ kernels: Kernels) {
    var chance = SeededGenerator(seed: 11)
    for count in 0...70 {
      let keys = PublishedKey.random(count, from: &chance, length: 0...40)
      let received = received(of: keys, count % 19, from: &chance)
      // Small, so that unrelated identifiers pass too.
      let filter = Filter(
        wordsLog2: 5, holding: received, secret: (chance.next(), chance.next()))
      let forward = kernels.forward(keys, filter)
      let expected = Kernels.portable.forward(keys, filter)
      #expect(forward.count == expected.count)
      #expect(Set(forward) == Set(expected))
      let reverse = Set(kernels.reverse(keys, received: received))
      #expect(reverse == Set(Kernels.portable.reverse(keys, received: received)))
      // Reverse matches are exact; forward finds them too, and more.
      #expect(reverse == Set(forward.filter { received.contains($0.identifier) }))
    }
  }

  @Test("In reverse, any number of received identifiers is matched", arguments: Kernels.available)
  func receivedCounts(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 12)
    let keys = PublishedKey.random(18, from: &chance, length: 100...144)
    let all = try Oracle.candidates(of: keys).sorted {
      $0.identifier.lexicographicallyPrecedes($1.identifier)
    }
    for count in Array(0...33) + [all.count] {
      let found = kernels.reverse(keys, received: all[..<count].map(\.identifier))
      #expect(found.count == count)
      #expect(Set(found) == Set(all[..<count]))
    }
  }

  @Test(
    "In reverse, intervals before, at the edges of and after the period are distinguished",
    arguments: Kernels.available)
  func edges(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 13)
    for first: UInt32 in [0, 2_642_976, .max - 4] {
      let key = PublishedKey(bytes: PublishedKey.bytes(16, from: &chance), first: first, length: 9)
      let identifierKey = Oracle.identifierKey(of: key.bytes)
      let intervals = [first &- 1, first, first &+ 8, first &+ 9]
      let received = try intervals.map { try Oracle.identifier(of: identifierKey, at: $0) }
      #expect(
        Set(kernels.reverse([key], received: received).map(\.interval)) == [first, first &+ 8])
    }
  }

  @Test("A period longer than a day counts as a day", arguments: Kernels.available)
  func overlong(_ kernels: Kernels) {
    let key = PublishedKey(bytes: [UInt8](repeating: 7, count: 16), first: 9, length: .max)
    #expect(kernels.forward([key], .full()).count == 144)
  }

  @Test("A duplicate key is found twice", arguments: Kernels.available)
  func duplicates(_ kernels: Kernels) {
    let key = PublishedKey(bytes: [UInt8](repeating: 9, count: 16), first: 100, length: 12)
    let keys = [PublishedKey](repeating: key, count: 35)
    #expect(Set(kernels.forward(keys, .full())).count == 35 * 12)
    let identifierKey = kernels.identifierKeys(of: [key.bytes])[0]
    let received = kernels.identifiers(of: identifierKey, first: 103, count: 1)
    #expect(Set(kernels.reverse(keys, received: received).map(\.key)) == Set(0..<35))
  }

  @Test("An unavailable tier falls back to the portable one")
  func lacking() {
    let lacking = Kernels(tier: ek_tier(rawValue: 99))
    let keys = [[UInt8](repeating: 1, count: 16)]
    #expect(lacking.identifierKeys(of: keys) == Kernels.portable.identifierKeys(of: keys))
    for tier in [EK_TIER_PORTABLE, EK_TIER_AESNI_SHANI, EK_TIER_VAES512] {
      #expect(ek_reverse_break_even(tier) > 0)
    }
  }
}
