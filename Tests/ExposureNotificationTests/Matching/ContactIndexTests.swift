// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

struct ContactIndexTests {
  /// 20,000 identifiers that differ in eight bytes only: the first, or the last.
  private func identifiers(varyingFirst: Bool) -> [(UInt64, UInt64)] {
    (0..<20_000).map { number in varyingFirst ? (UInt64(number), 7) : (7, UInt64(number)) }
  }

  @Test(
    "Identifiers that agree in half of their bytes do not collide under a random secret",
    arguments: [false, true])
  func flooding(varyingFirst: Bool) {
    var table = IdentifierTable(
      capacity: 20_000, secret: ProbeSecret(from: TestRandomness(seed: 5)))
    let identifiers = identifiers(varyingFirst: varyingFirst)
    for words in identifiers { _ = table.insert(words) }
    #expect(table.longestProbe < 64)
    #expect(identifiers.indices.allSatisfy { table.number(of: identifiers[$0]) == $0 })
    #expect(table.number(of: (8, 8)) == nil)
  }

  @Test("An identifier that is inserted again keeps its number")
  func repeated() {
    var table = IdentifierTable(capacity: 3, secret: .ofTests)
    #expect([(1, 1), (2, 1), (1, 1)].map { table.insert($0) } == [0, 1, 0])
    #expect(table.identifiers.count == 2)
  }

  @Test("A key is found even if all identifiers collide")
  func allCollide() throws {
    // With a secret of zeros, identifiers that begin with eight zeros share one slot of the table
    // and one word of every filter.
    let user = try BeaconSender()
    let users = try (0..<2_000).map { number in
      let bytes = [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 0xff)]
      return Sighting(
        advertisement: Advertisement(
          identifier: try required(RollingProximityIdentifier(bytes: bytes)),
          metadata: try required(AssociatedEncryptedMetadata(bytes: [0, 0, 0, 0]))),
        time: BeaconSender.midnight.date, signalStrength: -60)
    }
    let received = ScannedSighting.inOrder(users + [user.sighting(step: 3)])
    let index = ContactIndex(received, secret: ProbeSecret(bytes: []))
    for direction in MatchDirection.allCases {
      let matcher = Matcher(index, direction: direction)
      #expect(
        matcher.matches(of: [user.key, try BeaconSender(2).key]).map(\.key) == [user.key])
    }
  }

  @Test(
    "A lookup among 200,000 sightings of one identifier takes at most 40 steps",
    arguments: [0...24, 99_000...99_024, 199_999...200_023, 200_000...200_024])
  func halving(near: ClosedRange<UInt32>) {
    let count = 200_000
    let order = SightingOrder(
      of: [Int32](repeating: 0, count: count), identifierCount: 1
    ) { UInt32($0) }
    var steps = 0
    let indices = order.indices(of: 0, within: near) { place in
      steps += 1
      return UInt32(place)
    }
    #expect(indices.map(UInt32.init) == near.filter { $0 < UInt32(count) })
    #expect(steps <= 40)
  }

  @Test("Unsorted sightings are sorted by identifier and interval, and the sort is stable")
  func unsorted() {
    var dice = SeededGenerator(seed: 11)
    let numbers = (0..<2_000).map { _ in Int32.random(in: -1...6, using: &dice) }
    let intervals = numbers.map { _ in UInt32.random(in: 100...140, using: &dice) }
    let order = SightingOrder(of: numbers, identifierCount: 8) { intervals[$0] }
    for number in 0..<8 {
      let expected = numbers.indices
        .filter { Int(numbers[$0]) == number && (110...120).contains(intervals[$0]) }
        .sorted { (intervals[$0], $0) < (intervals[$1], $1) }
      let indices = order.indices(of: number, within: 110...120) { intervals[$0] }
      #expect(indices.map(Int.init) == expected)
    }
  }

  @Test(
    "An index of shuffled sightings returns those within the tolerance, sorted by interval")
  func shuffled() throws {
    var dice = SeededGenerator(seed: 12)
    let user = try BeaconSender()
    let received = (-20...20).map { user.sighting(step: 30, after: Double($0) * 600) }
    let index = ContactIndex(
      received.shuffled(using: &dice).map { ScannedSighting($0) }, secret: .ofTests)
    let sent = BeaconSender.midnight.rawValue + 30
    let words = try required(received.first).advertisement.identifier.words
    let number = try required(index.number(of: words, near: sent))
    let found = index.sightings(of: number, near: sent).map(\.sighting.time)
    #expect(found == received[8...32].map(\.time))
    #expect(index.number(of: words, near: sent - 33) == nil)
    #expect(index.number(of: words, near: sent + 32) == number)
    #expect(index.number(of: (1, 2), near: sent) == nil)
  }

  @Test("The partitioning index is the first match, or the upper bound if there is none")
  func partitioningIndex() {
    for first in 3...9 { #expect((3..<9).partitioningIndex { $0 >= first } == first) }
    #expect((5..<5).partitioningIndex { _ in true } == 5)
  }

  @Test("The span to search equals the result of testing every interval", arguments: 0..<60)
  func naive(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let bases: [UInt32] = [0, 5_000, .max - 1_000]
    let base = try required(bases.randomElement(using: &dice))
    let received = (0..<Int.random(in: 0...12, using: &dice)).map { _ in
      base + UInt32.random(in: 0...800, using: &dice)
    }.sorted()
    let searchIntervals = SearchIntervals(of: received)
    for _ in 0..<300 {
      let first = base + UInt32.random(in: 0...650, using: &dice)
      let last = first + UInt32.random(in: 0...143, using: &dice)
      let near = (first...last).filter { number in
        received.contains { max($0, number) - min($0, number) <= 12 }
      }
      let span = searchIntervals.span(first, last)
      #expect(span?.first == near.first && span?.last == near.last, "\(first)...\(last)")
      if let span {
        let intervals = searchIntervals.intervals(of: span.group)
        #expect(intervals.contains(span.first) && intervals.contains(span.last))
        #expect(span.group < searchIntervals.groupCount)
      }
    }
  }

  @Test("Without sightings there is no interval to search")
  func nobody() {
    #expect(SearchIntervals(of: []).span(0, 143) == nil)
    #expect(SearchIntervals(of: []).groupCount == 0)
  }
}
