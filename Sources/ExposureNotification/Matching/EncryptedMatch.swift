import DiagnosisKeyFile
import ExposureKeys
import Secrets

/// A published key that was heard, and in which intervals of its period: nothing of it is opened yet.
///
/// Whoever publishes a key that was heard for thousands of periods makes thousands of these, but all of a
/// batch share what was heard, and a keeper opens only what it did not know (Documentation/Matching.md 7.3).
package struct EncryptedMatch: Sendable, Redacted {
  /// The key, as it was published.
  package let key: DiagnosisKey
  /// What was heard of the key's bytes.
  let heard: MatchedIntervals

  /// The intervals of its period that it was heard in, ascending; never none.
  package var intervals: [IntervalNumber] {
    heard.intervals(of: key.key).map { IntervalNumber(rawValue: $0.interval) }
  }

  /// Those of them that are not among `known`. The same key may come a million times: where it adds nothing, nothing is
  /// made to find that out.
  func intervals(beyond known: Set<IntervalNumber>) -> Set<IntervalNumber> {
    let own = heard.intervals(of: key.key)
    guard own.contains(where: { !known.contains(IntervalNumber(rawValue: $0.interval)) }) else {
      return []
    }
    return Set(own.map { IntervalNumber(rawValue: $0.interval) }).subtracting(known)
  }

  /// The match with all that was heard in the key's period.
  package var decrypted: KeyMatch { decrypted { _ in true } }

  /// The match with what was heard in those intervals of the key's period for which `isIncluded` is true.
  func decrypted(where isIncluded: (IntervalNumber) -> Bool) -> KeyMatch {
    let included = heard.intervals(of: key.key).filter {
      isIncluded(IntervalNumber(rawValue: $0.interval))
    }
    return KeyMatch(key: key, sightings: heard.sightings(of: key.key, in: included))
  }
}

/// The intervals in which a key was heard, for whatever periods it is published: one for all rows of a batch
/// that have the same bytes.
final class MatchedIntervals: Sendable, Redacted {
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
    let first = heard.indices.partitioningIndex { heard[$0].interval >= key.rollingStart.rawValue }
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

/// Which keys of one batch were heard in which intervals, each interval of the same 16 bytes once.
///
/// The identifier of an interval depends on the bytes alone, so what a row explains is what its bytes
/// explain within its period. However many periods a key is published for, this grows with what was
/// heard (Documentation/Matching.md 7.3).
struct BatchHits {
  /// Pairs of row and interval that were added.
  private(set) var count = 0
  private let batch: KeyBatch
  /// The place among `intervals` of each row's bytes; empty before the first hit.
  private var placeOfRow: [Int32] = []
  private var placeOfBytes: [SixteenBytes: Int32] = [:]
  /// For each different key the intervals it was heard in, with the identifiers' numbers.
  private var intervals: [[UInt32: Int]] = []

  private static let none: Int32 = -1

  /// No hits of `batch` yet.
  init(of batch: KeyBatch) {
    self.batch = batch
  }

  /// Notes that row `row` explains the identifier of this number in `interval` of its period.
  mutating func add(row: Int, interval: UInt32, identifier: Int) {
    count += 1
    intervals[place(of: row)][interval] = identifier
  }

  private mutating func place(of row: Int) -> Int {
    if placeOfRow.isEmpty { placeOfRow = [Int32](repeating: Self.none, count: batch.count) }
    if placeOfRow[row] == Self.none {
      let place = placeOfBytes[
        SixteenBytes(words: batch.rows[row].words), default: Int32(intervals.count)]
      if place == intervals.count { intervals.append([:]) }
      placeOfBytes[SixteenBytes(words: batch.rows[row].words)] = place
      placeOfRow[row] = place
    }
    return Int(placeOfRow[row])
  }

  /// The keys that were heard, in the order of the batch.
  func matches(in index: ContactIndex) -> [EncryptedMatch] {
    let heard = intervals.map { MatchedIntervals($0, in: index) }
    return placeOfRow.enumerated().compactMap { row, place in
      place == Self.none ? nil : EncryptedMatch(key: batch[row], heard: heard[Int(place)])
    }
  }
}
