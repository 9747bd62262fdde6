import DiagnosisKeyFile
import ExposureKeys
import Secrets

/// A published key with the intervals in which it was received; the metadata is not decrypted yet.
///
/// A forged file can publish one received key for thousands of periods. All matches of its bytes in a
/// batch share one `MatchedIntervals`, and collectors decrypt only intervals that are new to them.
package struct EncryptedMatch: Sendable, Redacted {
  package let key: DiagnosisKey
  let matchedIntervals: MatchedIntervals

  /// The matched intervals within the key's period, ascending; not empty.
  package var intervals: [IntervalNumber] {
    matchedIntervals.intervals(of: key.key).map { IntervalNumber(rawValue: $0.interval) }
  }

  /// The matched intervals that are not in `known`.
  ///
  /// A forged file may repeat a key a million times, so nothing is allocated if there are none.
  func intervals(beyond known: Set<IntervalNumber>) -> Set<IntervalNumber> {
    let own = matchedIntervals.intervals(of: key.key)
    guard own.contains(where: { !known.contains(IntervalNumber(rawValue: $0.interval)) }) else {
      return []
    }
    return Set(own.map { IntervalNumber(rawValue: $0.interval) }).subtracting(known)
  }

  /// The match with all sightings in the key's period.
  package var decrypted: KeyMatch { decrypted { _ in true } }

  /// The match with the sightings in those intervals for which `isIncluded` is true.
  func decrypted(where isIncluded: (IntervalNumber) -> Bool) -> KeyMatch {
    let included = matchedIntervals.intervals(of: key.key).filter {
      isIncluded(IntervalNumber(rawValue: $0.interval))
    }
    return KeyMatch(key: key, sightings: matchedIntervals.sightings(of: key.key, in: included))
  }
}

/// The intervals in which the bytes of a key were received. All rows of a batch with the same bytes share
/// one instance, also if their periods differ.
final class MatchedIntervals: Sendable, Redacted {
  /// An interval and the number of the key's identifier in it.
  typealias Entry = (interval: UInt32, identifier: Int)

  private let entries: [Entry]
  private let index: ContactIndex

  init(_ identifiers: [UInt32: Int], in index: ContactIndex) {
    entries = identifiers.map { ($0.key, $0.value) }.sorted { $0.interval < $1.interval }
    self.index = index
  }

  /// The intervals within the period of `key`, ascending.
  func intervals(of key: TemporaryExposureKey) -> ArraySlice<Entry> {
    let first = entries.indices.partitioningIndex {
      entries[$0].interval >= key.rollingStart.rawValue
    }
    return entries[first...].prefix { $0.interval < key.rollingEnd.rawValue }
  }

  /// The sightings in `intervals`, with their metadata decrypted by `key`.
  func sightings(
    of key: TemporaryExposureKey, in intervals: some Sequence<Entry>
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

/// The hits of one batch, grouped by the keys' 16 bytes.
///
/// An identifier depends on these bytes and the interval alone. Grouping therefore bounds memory by the
/// number of received identifiers, however many periods a key is published for.
struct BatchHits {
  /// The number of added pairs of row and interval.
  private(set) var count = 0
  private let batch: KeyBatch
  /// For each row, the index into `intervals`; empty before the first hit.
  private var indexOfRow: [Int32] = []
  private var indexOfBytes: [SixteenBytes: Int32] = [:]
  /// For each distinct key, the matched intervals with the identifiers' numbers.
  private var intervals: [[UInt32: Int]] = []

  private static let none: Int32 = -1

  init(of batch: KeyBatch) {
    self.batch = batch
  }

  mutating func add(row: Int, interval: UInt32, identifier: Int) {
    count += 1
    intervals[index(of: row)][interval] = identifier
  }

  private mutating func index(of row: Int) -> Int {
    if indexOfRow.isEmpty { indexOfRow = [Int32](repeating: Self.none, count: batch.count) }
    if indexOfRow[row] == Self.none {
      let index = indexOfBytes[
        SixteenBytes(words: batch.rows[row].words), default: Int32(intervals.count)]
      if index == intervals.count { intervals.append([:]) }
      indexOfBytes[SixteenBytes(words: batch.rows[row].words)] = index
      indexOfRow[row] = index
    }
    return Int(indexOfRow[row])
  }

  /// The matched keys in the order of the batch.
  func matches(in index: ContactIndex) -> [EncryptedMatch] {
    let matchedIntervals = intervals.map { MatchedIntervals($0, in: index) }
    return indexOfRow.enumerated().compactMap { row, index in
      index == Self.none
        ? nil : EncryptedMatch(key: batch[row], matchedIntervals: matchedIntervals[Int(index)])
    }
  }
}
