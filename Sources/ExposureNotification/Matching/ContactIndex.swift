import ExposureKeys

/// All that a phone has heard, each identifier once, ready to be searched.
package struct ContactIndex: Sendable {
  /// The secret of this run.
  let secret: ProbeSecret
  /// The intervals in reach of what was heard.
  let reach: Reach
  private let sightings: [ScannedSighting]
  private let table: IdentifierTable
  /// The first sighting of each identifier, and the next one of the same after each sighting.
  private let firstSighting: [Int32]
  private let nextSighting: [Int32]
  /// Interval and identifier, ascending, each pair once.
  private let heard: [UInt64]

  private static let none: Int32 = -1

  /// An index of these sightings, in any order, at most as many as an `Int32` counts. `secret` comes
  /// from the phone's `Randomness`, a new one for each search.
  ///
  /// A sighting at a time that has no interval number matches nothing and is left out.
  package init(_ sightings: [ScannedSighting], secret: ProbeSecret) {
    var table = IdentifierTable(capacity: sightings.count, secret: secret)
    var first: [Int32] = []
    var next = [Int32](repeating: Self.none, count: sightings.count)
    var heard: [UInt64] = []
    heard.reserveCapacity(sightings.count)
    // From the last to the first, so that an identifier's sightings come in their order.
    for index in sightings.indices.reversed() {
      let sighting = sightings[index].sighting
      guard let interval = IntervalNumber(sighting.time) else { continue }
      let number = table.insert(sighting.advertisement.identifier.words)
      if number == first.count { first.append(Self.none) }
      next[index] = first[number]
      first[number] = Int32(index)
      heard.append(UInt64(interval.rawValue) << 32 | UInt64(number))
    }
    heard.sort()
    self.heard = Self.withoutRepeats(heard)
    reach = Reach(of: self.heard.map { UInt32($0 >> 32) })
    (self.table, firstSighting, nextSighting) = (table, first, next)
    (self.sightings, self.secret) = (sightings, secret)
  }

  /// How many different identifiers were heard.
  package var identifierCount: Int { firstSighting.count }

  private static func withoutRepeats(_ sorted: [UInt64]) -> [UInt64] {
    var last: UInt64?
    return sorted.filter { pair in
      defer { last = pair }
      return pair != last
    }
  }
}

extension ContactIndex {
  /// The different identifiers that were heard within the tolerance of one of `intervals`.
  func identifiers(near intervals: ClosedRange<UInt32>) -> [(UInt64, UInt64)] {
    let first = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.lowerBound)).lowerBound
    let last = Matcher.tolerance(around: IntervalNumber(rawValue: intervals.upperBound)).upperBound
    let numbers = heard[place(of: UInt64(first) << 32)...]
      .prefix { $0 >> 32 <= UInt64(last) }
      .map { UInt32(truncatingIfNeeded: $0) }
      .sorted()
    var found: [(UInt64, UInt64)] = []
    for (index, number) in numbers.enumerated() where index == 0 || numbers[index - 1] != number {
      found.append(table.identifiers[Int(number)])
    }
    return found
  }

  /// The first place of `heard` that is not below `pair`.
  private func place(of pair: UInt64) -> Int {
    var (low, high) = (0, heard.count)
    while low < high {
      let middle = (low + high) / 2
      if heard[middle] < pair { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The number of the identifier, where it was heard within the tolerance of `interval`.
  func number(of words: (UInt64, UInt64), near interval: UInt32) -> Int? {
    guard let number = table.number(of: words) else { return nil }
    var index = firstSighting[number]
    // One is enough: who repeats a beacon all day does not lengthen every look at it.
    while index != Self.none {
      if isNear(sightings[Int(index)], interval) { return number }
      index = nextSighting[Int(index)]
    }
    return nil
  }

  /// What was heard of identifier `number` within the tolerance of `interval`.
  func forEachSighting(
    of number: Int, near interval: UInt32, _ each: (ScannedSighting) -> Void
  ) {
    var index = firstSighting[number]
    while index != Self.none {
      let scanned = sightings[Int(index)]
      if isNear(scanned, interval) { each(scanned) }
      index = nextSighting[Int(index)]
    }
  }

  private func isNear(_ scanned: ScannedSighting, _ interval: UInt32) -> Bool {
    guard let heard = IntervalNumber(scanned.sighting.time) else { return false }
    return heard.distance(to: IntervalNumber(rawValue: interval)) <= Matcher.toleranceIntervals
  }
}

extension ContactIndex: CustomStringConvertible, CustomReflectable {
  /// The kind only: whom a phone met is nobody else's business.
  package var description: String { "ContactIndex" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
