// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets

/// All received identifiers, indexed for the search.
package struct ContactIndex: Sendable, Redacted {
  let secret: ProbeSecret
  /// The intervals within the tolerance of a sighting.
  let searchIntervals: SearchIntervals
  private let sightings: [ScannedSighting]
  private let table: IdentifierTable
  private let order: SightingOrder
  /// Interval (upper half) and identifier number (lower half), sorted, without duplicates.
  private let pairs: [UInt64]

  /// Indexes `sightings`, in any order, at most `Int32.max`. Use a new random `secret` for each search.
  ///
  /// A sighting whose time has no interval number matches nothing and is left out.
  package init(_ sightings: [ScannedSighting], secret: ProbeSecret) {
    var table = IdentifierTable(capacity: sightings.count, secret: secret)
    var pairs: [UInt64] = []
    pairs.reserveCapacity(sightings.count)
    let numbers = sightings.map { scanned in
      guard let interval = IntervalNumber(scanned.sighting.time) else { return SightingOrder.none }
      let number = table.insert(scanned.sighting.advertisement.identifier.words)
      pairs.append(UInt64(interval.rawValue) << 32 | UInt64(number))
      return Int32(number)
    }
    pairs.sort()
    Self.removeDuplicates(from: &pairs)
    searchIntervals = SearchIntervals(of: pairs.map { UInt32($0 >> 32) })
    order = SightingOrder(of: numbers, identifierCount: table.identifiers.count) { index in
      sightings[index].interval
    }
    (self.sightings, self.table, self.pairs, self.secret) = (sightings, table, pairs, secret)
  }

  // In place: a second array would be reallocated several times as it grows.
  private static func removeDuplicates(from sorted: inout [UInt64]) {
    var count = 0
    for index in sorted.indices where count == 0 || sorted[count - 1] != sorted[index] {
      sorted[count] = sorted[index]
      count += 1
    }
    sorted.removeLast(sorted.count - count)
  }
}

extension ContactIndex {
  var sightingCount: Int { sightings.count }

  /// The distinct identifiers that were received within the tolerance of one of `intervals`.
  func identifiers(near intervals: ClosedRange<UInt32>) -> [(UInt64, UInt64)] {
    let first = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.lowerBound)).lowerBound
    let last = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.upperBound)).upperBound
    let numbers = pairs[pairs.indices.partitioningIndex { pairs[$0] >> 32 >= UInt64(first) }...]
      .prefix { $0 >> 32 <= UInt64(last) }
      .map { UInt32(truncatingIfNeeded: $0) }
      .sorted()
    var found: [(UInt64, UInt64)] = []
    for (index, number) in numbers.enumerated() where index == 0 || numbers[index - 1] != number {
      found.append(table.identifiers[Int(number)])
    }
    return found
  }

  /// The number of the identifier if it was received within the tolerance of `interval`.
  func number(of words: (UInt64, UInt64), near interval: UInt32) -> Int? {
    guard let number = table.number(of: words) else { return nil }
    return indices(of: number, near: interval).isEmpty ? nil : number
  }

  /// The sightings of identifier `number` within the tolerance of `interval`, sorted by interval.
  func sightings(
    of number: Int, near interval: UInt32
  ) -> some Sequence<ScannedSighting> {
    indices(of: number, near: interval).lazy.map { sightings[Int($0)] }
  }

  private func indices(of number: Int, near interval: UInt32) -> ArraySlice<Int32> {
    let near = Matcher.tolerance(around: IntervalNumber(rawValue: interval))
    return order.indices(of: number, within: near) { sightings[$0].interval }
  }
}

extension ScannedSighting {
  /// The interval of the sighting. Indexed sightings always have one.
  fileprivate var interval: UInt32 {
    guard let interval = IntervalNumber(sighting.time) else {
      preconditionFailure("sightings without an interval are not indexed")
    }
    return interval.rawValue
  }
}

/// The sightings' indices, grouped by identifier and sorted by interval.
///
/// The sort order makes a lookup logarithmic. Without it, an attacker who repeats one beacon 100,000
/// times would slow down every lookup of it.
struct SightingOrder: Sendable {
  /// Indices of sightings, identifier after identifier.
  private var indices: [Int32]
  /// The start of each identifier's indices, and finally the end of the last.
  private let starts: [Int32]

  /// The identifier number of a sighting that is not indexed.
  static let none: Int32 = -1

  /// Sorts sightings by their identifiers' `numbers`, which are below `count`, and by `interval` of the
  /// sighting's index. The sort is stable.
  init(of numbers: [Int32], identifierCount count: Int, interval: (Int) -> UInt32) {
    var starts = [Int32](repeating: 0, count: count + 1)
    for number in numbers where number != Self.none { starts[Int(number) + 1] += 1 }
    for number in 0..<count { starts[number + 1] += starts[number] }
    var next = starts
    indices = [Int32](repeating: 0, count: Int(starts[count]))
    for (index, number) in numbers.enumerated() where number != Self.none {
      indices[Int(next[Int(number)])] = Int32(index)
      next[Int(number)] += 1
    }
    self.starts = starts
    for number in 0..<count { sort(range(of: number), by: interval) }
  }

  /// The indices of the sightings of identifier `number` in one of `intervals`.
  func indices(
    of number: Int, within intervals: ClosedRange<UInt32>, interval: (Int) -> UInt32
  ) -> ArraySlice<Int32> {
    let all = range(of: number)
    let first = all.partitioningIndex { interval(Int(indices[$0])) >= intervals.lowerBound }
    let end = (first..<all.upperBound).partitioningIndex {
      interval(Int(indices[$0])) > intervals.upperBound
    }
    return indices[first..<end]
  }

  private func range(of number: Int) -> Range<Int> {
    Int(starts[number])..<Int(starts[number + 1])
  }

  // Devices provide sightings in the order of time, so there is usually nothing to sort.
  private mutating func sort(_ range: Range<Int>, by interval: (Int) -> UInt32) {
    let isSorted = range.dropFirst().allSatisfy { index in
      interval(Int(indices[index - 1])) <= interval(Int(indices[index]))
    }
    guard !isSorted else { return }
    indices[range].sort { (interval(Int($0)), $0) < (interval(Int($1)), $1) }
  }
}

extension Range<Int> {
  /// Returns the first index at which `isReached` is true, or the upper bound, by binary search.
  ///
  /// `isReached` must be true for every index after the first such one.
  func partitioningIndex(where isReached: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if isReached(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A hash table that numbers the distinct identifiers.
///
/// Open addressing with a load of at most one half. The slot depends on all 16 bytes and on the secret,
/// so an attacker cannot construct identifiers that collide.
struct IdentifierTable: Sendable {
  /// The identifiers in order of insertion.
  private(set) var identifiers: [(UInt64, UInt64)] = []
  private var slots: [Int32]
  private let mask: UInt64
  private let secret: (UInt64, UInt64)

  private static let empty: Int32 = -1

  init(capacity count: Int, secret: ProbeSecret) {
    let slotCount = 1 << (Int.bitWidth - max(2 * count - 1, 1).leadingZeroBitCount)
    slots = [Int32](repeating: Self.empty, count: slotCount)
    mask = UInt64(slotCount - 1)
    self.secret = secret.table
  }

  /// Returns the number of `words`, inserting them if they are new.
  mutating func insert(_ words: (UInt64, UInt64)) -> Int {
    let slot = slot(of: words)
    guard slots[slot] == Self.empty else { return Int(slots[slot]) }
    slots[slot] = Int32(identifiers.count)
    identifiers.append(words)
    return identifiers.count - 1
  }

  func number(of words: (UInt64, UInt64)) -> Int? {
    let number = slots[slot(of: words)]
    return number == Self.empty ? nil : Int(number)
  }

  /// The slot of `words`, or the empty slot for them.
  private func slot(of words: (UInt64, UInt64)) -> Int {
    var slot = place(of: words)
    while slots[Int(slot)] != Self.empty, identifiers[Int(slots[Int(slot)])] != words {
      slot = (slot + 1) & mask
    }
    return Int(slot)
  }

  private func place(of words: (UInt64, UInt64)) -> UInt64 {
    let product = (words.0 ^ secret.0).multipliedFullWidth(by: words.1 ^ secret.1)
    return (product.high ^ product.low) & mask
  }

  /// The largest number of slots that a lookup inspects.
  var longestProbe: Int {
    identifiers.reduce(0) { longest, words in
      let distance = UInt64(slot(of: words)) &- place(of: words) & mask
      return max(longest, Int(distance & mask) + 1)
    }
  }
}
