import ExposureKeys

/// All that a phone has heard, each identifier once, ready to be searched.
package struct ContactIndex: Sendable {
  /// The secret of this run.
  let secret: ProbeSecret
  /// The intervals in reach of what was heard.
  let reach: Reach
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
    reach = Reach(of: heard.map { UInt32($0 >> 32) })
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
    let numbers = heard[heard.indices.firstPlace { heard[$0] >> 32 >= UInt64(first) }...]
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

extension ContactIndex: CustomStringConvertible, CustomReflectable {
  /// The kind only: whom a phone met is nobody else's business.
  package var description: String { "ContactIndex" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
