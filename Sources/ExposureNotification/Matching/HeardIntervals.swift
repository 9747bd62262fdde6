import ExposureKeys

/// The intervals in which a key was heard, for whatever periods it is published: one for all rows of a batch
/// that have the same bytes.
final class HeardIntervals: Sendable {
  /// An interval and the number of the identifier that the key has in it.
  typealias Heard = (interval: UInt32, identifier: Int)

  private let heard: [Heard]
  private let index: ContactIndex

  /// These intervals, with the numbers that their identifiers have in `index`.
  init(_ identifiers: [UInt32: Int], in index: ContactIndex) {
    heard = identifiers.map { ($0.key, $0.value) }.sorted { $0.interval < $1.interval }
    self.index = index
  }

  /// Those that `key` serves, ascending.
  func intervals(of key: TemporaryExposureKey) -> ArraySlice<Heard> {
    let first = heard.indices.firstPlace { heard[$0].interval >= key.rollingStart.rawValue }
    return heard[first...].prefix { $0.interval < key.rollingEnd.rawValue }
  }

  /// What was heard of `key` in `intervals`, opened with it.
  func sightings(
    of key: TemporaryExposureKey, in intervals: some Sequence<Heard>
  ) -> [MatchedSighting] {
    let schedule = KeySchedule(key)
    return intervals.flatMap { interval, identifier in
      index.sightings(of: identifier, near: interval).map { scanned in
        let advertisement = scanned.sighting.advertisement
        return MatchedSighting(
          scanned, sentIn: IntervalNumber(rawValue: interval),
          metadata: schedule.open(advertisement.metadata, beside: advertisement.identifier))
      }
    }
  }
}

extension HeardIntervals: CustomStringConvertible, CustomReflectable {
  /// The kind only: it says when two people met.
  var description: String { "HeardIntervals" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
