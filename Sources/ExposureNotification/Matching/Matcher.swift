import ExposureKeys

/// Finds what a phone heard of the people whose keys were published.
///
/// Documentation/RiskScoring.md 1.1 to 1.4. Only facts: the rules on what to make of them are steps
/// of their own (`PlausibilityRule`, `ReplayRule`).
package struct Matcher: Sendable {
  /// How far the clocks of two phones may be apart, in intervals: two hours.
  package static let toleranceIntervals: UInt32 = 12

  private let index: ContactIndex

  /// A matcher against what was heard.
  package init(_ index: ContactIndex) {
    self.index = index
  }

  /// The keys of `batch` that were heard within their declared period, with their sightings.
  package func matches(of batch: [DiagnosisKey]) -> [KeyMatch] {
    batch.compactMap(match)
  }

  func match(of key: DiagnosisKey) -> KeyMatch? {
    let intervals = index.intervals(of: key.key)
    guard !intervals.isEmpty else { return nil }
    let schedule = KeySchedule(key.key)
    let sightings = intervals.joined().flatMap { number in
      self.sightings(at: IntervalNumber(rawValue: number), schedule: schedule)
    }
    return sightings.isEmpty ? nil : KeyMatch(key: key, sightings: sightings)
  }

  private func sightings(at interval: IntervalNumber, schedule: KeySchedule) -> [MatchedSighting] {
    let identifier = schedule.identifier(at: interval)
    return index.sightings(of: identifier).compactMap { scanned in
      guard let heard = IntervalNumber(scanned.sighting.time),
        heard.distance(to: interval) <= Self.toleranceIntervals
      else { return nil }
      let sealed = scanned.sighting.advertisement.metadata
      return MatchedSighting(
        scanned, sentIn: interval, metadata: schedule.open(sealed, beside: identifier))
    }
  }

  /// The intervals whose identifiers may be heard in `interval`.
  static func tolerance(around interval: IntervalNumber) -> ClosedRange<UInt32> {
    let number = interval.rawValue
    let (end, overflow) = number.addingReportingOverflow(toleranceIntervals)
    return (number - min(number, toleranceIntervals))...(overflow ? .max : end)
  }
}
