import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 5.3.
struct SightingOrderTests {
  @Test(
    "An identifier heard 200,000 times is looked at in 40 steps, wherever its interval lies",
    arguments: [0...24, 99_000...99_024, 199_999...200_023, 200_000...200_024])
  func halving(near: ClosedRange<UInt32>) {
    let count = 200_000
    let order = SightingOrder(
      of: [Int32](repeating: 0, count: count), identifierCount: 1
    ) { UInt32($0) }
    var steps = 0
    let places = order.places(of: 0, within: near) { place in
      steps += 1
      return UInt32(place)
    }
    #expect(places.map(UInt32.init) == near.filter { $0 < UInt32(count) })
    #expect(steps <= 40)
  }

  @Test("Sightings in any order lie by identifier and interval, those of one interval as they came")
  func unsorted() {
    var dice = SeededGenerator(seed: 11)
    let numbers = (0..<2_000).map { _ in Int32.random(in: -1...6, using: &dice) }
    let intervals = numbers.map { _ in UInt32.random(in: 100...140, using: &dice) }
    let order = SightingOrder(of: numbers, identifierCount: 8) { intervals[$0] }
    for number in 0..<8 {
      let expected = numbers.indices
        .filter { Int(numbers[$0]) == number && (110...120).contains(intervals[$0]) }
        .sorted { (intervals[$0], $0) < (intervals[$1], $1) }
      let places = order.places(of: number, within: 110...120) { intervals[$0] }
      #expect(places.map(Int.init) == expected)
    }
  }

  @Test(
    "An index of shuffled sightings gives those in the tolerance, in the order of their intervals")
  func shuffled() throws {
    var dice = SeededGenerator(seed: 12)
    let stranger = try Stranger()
    let heard = (-20...20).map { stranger.heard(step: 30, after: Double($0) * 600) }
    let index = ContactIndex(
      heard.shuffled(using: &dice).map { ScannedSighting($0) }, secret: .ofTests)
    let sent = Stranger.midnight.rawValue + 30
    let words = try required(heard.first).advertisement.identifier.words
    let number = try required(index.number(of: words, near: sent))
    let found = index.sightings(of: number, near: sent).map(\.sighting.time)
    #expect(found == heard[8...32].map(\.time))
    #expect(index.number(of: words, near: sent - 33) == nil)
    #expect(index.number(of: words, near: sent + 32) == number)
    #expect(index.number(of: (1, 2), near: sent) == nil)
  }

  @Test("Halving finds the first place, the end where there is none, and in nothing nothing")
  func firstPlace() {
    for first in 3...9 { #expect((3..<9).firstPlace { $0 >= first } == first) }
    #expect((5..<5).firstPlace { _ in true } == 5)
  }
}
