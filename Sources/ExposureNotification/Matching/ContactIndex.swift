import ExposureKeys

/// All that a phone has heard, ready to be asked about one identifier.
///
/// It also knows which intervals an identifier must belong to for a sighting to be near enough, so
/// that the rest of a key is not even derived: on most days most people meet nobody for hours.
package struct ContactIndex: Sendable {
  private let sightings: [RollingProximityIdentifier: [ScannedSighting]]
  /// Intervals in reach of a sighting: ascending and apart from each other.
  private let inReach: [ClosedRange<UInt32>]

  /// An index of these sightings, in any order.
  package init(_ sightings: [ScannedSighting]) {
    self.sightings = Dictionary(grouping: sightings, by: \.sighting.advertisement.identifier)
    inReach = Self.merged(
      Set(sightings.compactMap { IntervalNumber($0.sighting.time) }).map(Matcher.tolerance(around:))
    )
  }

  /// What was heard of `identifier`, in no order.
  func sightings(of identifier: RollingProximityIdentifier) -> [ScannedSighting] {
    sightings[identifier] ?? []
  }

  /// The intervals that `key` serves and in whose reach anything was heard.
  func intervals(of key: TemporaryExposureKey) -> [ClosedRange<UInt32>] {
    let first = key.rollingStart.rawValue
    let last = key.rollingEnd.rawValue - 1
    return inReach[firstRange(endingAtOrAfter: first)...]
      .prefix { $0.lowerBound <= last }
      .map { $0.clamped(to: first...last) }
  }

  private func firstRange(endingAtOrAfter interval: UInt32) -> Int {
    var low = 0
    var high = inReach.count
    while low < high {
      let middle = (low + high) / 2
      if inReach[middle].upperBound < interval { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
      guard let last = merged.last, range.lowerBound <= last.upperBound else {
        merged.append(range)
        return
      }
      merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }
  }
}

extension ContactIndex: CustomStringConvertible, CustomReflectable {
  /// The kind only: whom a phone met is nobody else's business.
  package var description: String { "ContactIndex" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
