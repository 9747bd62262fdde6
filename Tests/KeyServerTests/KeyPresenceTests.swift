import Testing
import World

@testable import KeyServer

@Suite("Key server: what is remembered of the keys that are in")
struct KeyPresenceTests {
  private static func keys(_ count: Int) -> [(UInt64, UInt64)] {
    (0..<count).map { _ in (.random(in: 0...UInt64.max), .random(in: 0...UInt64.max)) }
  }

  @Test("A key that is in is never said to be new", arguments: [1, 1_000, 100_000])
  func nothingMissed(capacity: Int) {
    var presence = KeyPresence(capacity: capacity)
    let keys = Self.keys(capacity)
    for key in keys {
      presence.add(key)
      #expect(presence.mayHold(key))
    }
    #expect(presence.count == capacity)
    #expect(keys.allSatisfy(presence.mayHold))
  }

  @Test("Filled up, it takes one new key in some thousands for one that may be in")
  func seldomWrong() {
    // The fewest bits that a key gets: 2^21 of them for as many keys as go into them.
    let capacity = (1 << 21) / 24
    var presence = KeyPresence(capacity: capacity)
    for key in Self.keys(capacity) { presence.add(key) }
    let wrong = Self.keys(200_000).count(where: presence.mayHold)
    // Eight are to be expected; thirty come once in a hundred million times.
    #expect(wrong < 30)
  }

  @Test("Keys that differ in one bit, as a stranger might choose them, do not fill the same places")
  func chosenKeys() {
    var presence = KeyPresence(capacity: 100_000)
    for number in 0..<100_000 as Range<UInt64> { presence.add((number, 0)) }
    let others = (0..<100_000 as Range<UInt64>).count { presence.mayHold((0, $0 + 1)) }
    #expect(others < 30)
  }

  @Test("Nothing of a key is in what is said of it")
  func quiet() {
    var presence = KeyPresence(capacity: 1)
    presence.add((7, 7))
    #expect("\(presence)" == "KeyPresence(1 of 1)")
  }
}
