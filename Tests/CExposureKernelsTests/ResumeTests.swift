// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import TestSupport
import Testing

@Suite("Calls stop before their candidates may not fit, and can be resumed")
struct ResumeTests {
  private let keys: [PublishedKey]
  private let least = Int(EK_CANDIDATES_MIN)

  init() {
    var chance = SeededGenerator(seed: 21)
    keys =
      PublishedKey.random(52, from: &chance)
      + PublishedKey.random(
        37, from: &chance, length: 144...144)
  }

  @Test(
    "Any capacity from the minimum on gives all candidates once", arguments: Kernels.available)
  func rooms(_ kernels: Kernels) {
    let expected = Kernels.portable.forward(keys, .full(), capacity: 100_000)
    for capacity in [
      least, least + 1, least + 143, 2 * least - 1, 2 * least, 2 * least + 1, 3 * least,
    ] {
      var calls: [Int] = []
      let found = kernels.forward(keys, .full(), capacity: capacity) { calls.append($0) }
      #expect(found.count == expected.count)
      #expect(Set(found) == Set(expected))
      #expect(calls.allSatisfy { $0 <= capacity })
      #expect(calls.count > 1)
    }
  }

  @Test(
    "With less capacity a call may do nothing, and writes nothing beyond it",
    arguments: Kernels.available)
  func tooLittle(_ kernels: Kernels) {
    let whole = Array(keys.suffix(16))
    #expect(kernels.forward(whole, .full(), capacity: least - 1).isEmpty)
    #expect(kernels.forward(whole, .full(), capacity: 0).isEmpty)
    #expect(kernels.forward(whole, .full(), capacity: least).count == least)
  }

  @Test("If a filter holds little, one call processes all keys", arguments: Kernels.available)
  func oneCall(_ kernels: Kernels) {
    var calls = 0
    #expect(kernels.forward(keys, Filter(wordsLog2: 10)) { _ in calls += 1 }.isEmpty)
    #expect(calls == 1)
  }

  @Test("In reverse, a full buffer ends the call as it does forward", arguments: Kernels.available)
  func reverse(_ kernels: Kernels) throws {
    let all = try Oracle.candidates(of: keys)
    let received = all.map(\.identifier)
    for capacity in [least, least + 1, 100_000] {
      let found = kernels.reverse(keys, received: received, capacity: capacity)
      #expect(found.count == all.count)
      #expect(Set(found) == all)
    }
  }

  @Test(
    "Duplicate received identifiers never write beyond the buffer",
    arguments: Kernels.available)
  func repeated(_ kernels: Kernels) throws {
    let key = PublishedKey(bytes: [UInt8](repeating: 5, count: 16), first: 50, length: 2)
    let identifier = try Oracle.identifier(of: Oracle.identifierKey(of: key.bytes), at: 51)
    let received = [[UInt8]](repeating: identifier, count: 40)
    let found = kernels.reverse([key], received: received)
    #expect(found.count == 2)
    #expect(Set(found).count == 1)
  }
}
