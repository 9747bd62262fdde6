import ExposureKeys
import Secrets

/// All that a phone has heard, each identifier once, ready to be searched.
package struct ContactIndex: Sendable, Redacted {
  /// The secret of this run.
  let secret: ProbeSecret
  /// The intervals in reach of what was heard.
  let reach: SearchIntervals
  private let sightings: [ScannedSighting]
  private let table: IdentifierTable
  private let order: SightingOrder
  /// Interval and identifier, ascending, each pair once.
  private let heard: [UInt64]

  /// An index of these sightings, in any order, at most as many as an `Int32` counts. `secret` comes
  /// from the phone's `Randomness`, a new one for each search.
  ///
  /// A sighting at a time that has no interval number matches nothing and is left out.
  package init(_ sightings: [ScannedSighting], secret: ProbeSecret) {
    var table = IdentifierTable(capacity: sightings.count, secret: secret)
    var heard: [UInt64] = []
    heard.reserveCapacity(sightings.count)
    let numbers = sightings.map { scanned in
      guard let interval = IntervalNumber(scanned.sighting.time) else { return SightingOrder.none }
      let number = table.insert(scanned.sighting.advertisement.identifier.words)
      heard.append(UInt64(interval.rawValue) << 32 | UInt64(number))
      return Int32(number)
    }
    heard.sort()
    Self.dropRepeats(of: &heard)
    reach = SearchIntervals(of: heard.map { UInt32($0 >> 32) })
    order = SightingOrder(of: numbers, identifierCount: table.identifiers.count) { place in
      sightings[place].interval
    }
    (self.sightings, self.table, self.heard, self.secret) = (sightings, table, heard, secret)
  }

  /// How many different identifiers were heard.
  package var identifierCount: Int { table.identifiers.count }

  /// In place: a copy would grow by doubling.
  private static func dropRepeats(of sorted: inout [UInt64]) {
    var kept = 0
    for index in sorted.indices where kept == 0 || sorted[kept - 1] != sorted[index] {
      sorted[kept] = sorted[index]
      kept += 1
    }
    sorted.removeLast(sorted.count - kept)
  }
}

extension ContactIndex {
  /// The different identifiers that were heard within the tolerance of one of `intervals`.
  func identifiers(near intervals: ClosedRange<UInt32>) -> [(UInt64, UInt64)] {
    let first = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.lowerBound)).lowerBound
    let last = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.upperBound)).upperBound
    let numbers = heard[heard.indices.partitioningIndex { heard[$0] >> 32 >= UInt64(first) }...]
      .prefix { $0 >> 32 <= UInt64(last) }
      .map { UInt32(truncatingIfNeeded: $0) }
      .sorted()
    var found: [(UInt64, UInt64)] = []
    for (index, number) in numbers.enumerated() where index == 0 || numbers[index - 1] != number {
      found.append(table.identifiers[Int(number)])
    }
    return found
  }

  /// The number of the identifier, where it was heard within the tolerance of `interval`.
  func number(of words: (UInt64, UInt64), near interval: UInt32) -> Int? {
    guard let number = table.number(of: words) else { return nil }
    return places(of: number, near: interval).isEmpty ? nil : number
  }

  /// What was heard of identifier `number` within the tolerance of `interval`, in the order of the
  /// intervals.
  func sightings(
    of number: Int, near interval: UInt32
  ) -> some Sequence<ScannedSighting> {
    places(of: number, near: interval).lazy.map { sightings[Int($0)] }
  }

  private func places(of number: Int, near interval: UInt32) -> ArraySlice<Int32> {
    let near = Matcher.tolerance(around: IntervalNumber(rawValue: interval))
    return order.places(of: number, within: near) { sightings[$0].interval }
  }
}

extension ScannedSighting {
  /// The interval it was heard in; of the index's own sightings, which have one.
  fileprivate var interval: UInt32 {
    guard let interval = IntervalNumber(sighting.time) else {
      preconditionFailure("a sighting without an interval is left out of the index")
    }
    return interval.rawValue
  }
}

/// Where the sightings of each identifier are: together, in the order of their interval.
///
/// So whoever repeats a beacon a hundred thousand times lengthens a look at it by seventeen steps
/// (Documentation/Matching.md 5.3).
struct SightingOrder: Sendable {
  /// Places among the sightings, identifier after identifier.
  private var places: [Int32]
  /// Where in `places` those of each identifier begin, and at last where they end.
  private let starts: [Int32]

  /// In the place of an identifier's number: the sighting is left out.
  static let none: Int32 = -1

  /// The order of sightings of the identifiers `numbers`, all below `count`; `interval` is the one that
  /// the sighting at a place was heard in. Those of one interval stay as they come.
  init(of numbers: [Int32], identifierCount count: Int, interval: (Int) -> UInt32) {
    var starts = [Int32](repeating: 0, count: count + 1)
    for number in numbers where number != Self.none { starts[Int(number) + 1] += 1 }
    for number in 0..<count { starts[number + 1] += starts[number] }
    var next = starts
    places = [Int32](repeating: 0, count: Int(starts[count]))
    for (place, number) in numbers.enumerated() where number != Self.none {
      places[Int(next[Int(number)])] = Int32(place)
      next[Int(number)] += 1
    }
    self.starts = starts
    for number in 0..<count { sort(range(of: number), by: interval) }
  }

  /// The places of the sightings of identifier `number` that were heard in one of `intervals`.
  func places(
    of number: Int, within intervals: ClosedRange<UInt32>, interval: (Int) -> UInt32
  ) -> ArraySlice<Int32> {
    let all = range(of: number)
    let first = all.partitioningIndex { interval(Int(places[$0])) >= intervals.lowerBound }
    let end = (first..<all.upperBound).partitioningIndex {
      interval(Int(places[$0])) > intervals.upperBound
    }
    return places[first..<end]
  }

  private func range(of number: Int) -> Range<Int> {
    Int(starts[number])..<Int(starts[number + 1])
  }

  /// Phones hand over what they heard in the order of time: then there is nothing to do.
  private mutating func sort(_ range: Range<Int>, by interval: (Int) -> UInt32) {
    let isSorted = range.dropFirst().allSatisfy { index in
      interval(Int(places[index - 1])) <= interval(Int(places[index]))
    }
    guard !isSorted else { return }
    places[range].sort { (interval(Int($0)), $0) < (interval(Int($1)), $1) }
  }
}

extension Range<Int> {
  /// The first place at which `isReached`, found by halving: it holds at every place after that one too.
  /// The end where it holds nowhere.
  func partitioningIndex(where isReached: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if isReached(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
