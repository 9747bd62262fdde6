// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Secrets

/// A published key with its sightings, sorted by time.
package struct KeyMatch: Hashable, Sendable {
  package var key: DiagnosisKey
  package private(set) var sightings: [MatchedSighting]

  /// Creates a match; `sightings` may be in any order.
  package init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    self.sightings = sightings.sorted(by: MatchedSighting.inOrderOfTime)
  }

  /// The match without implausible and replayed sightings, and with one metadata for each identifier; nil if
  /// none is left.
  package var credible: KeyMatch? {
    let plausible = MetadataRule.unified(sightings.filter(PlausibilityRule.accepts))
    let sightings = ReplayRule.filtered(plausible)
    return sightings.isEmpty ? nil : KeyMatch(key: key, sightings: sightings)
  }

  /// The number of whole days from the start of the key to `now`.
  func age(at now: Date) -> Int {
    let days = now.timeIntervalSince(key.key.rollingStart.date) / Day.seconds
    return Int(min(max(days.rounded(.down), 0), Double(Int32.max)))
  }
}

/// A sighting of a published key's identifier.
package struct MatchedSighting: Hashable, Sendable {
  package let scanned: ScannedSighting
  /// The interval of the identifier, by the sender's clock.
  package let sentIn: IntervalNumber
  /// The decrypted metadata. It is not authenticated.
  package let metadata: BluetoothMetadata

  package init(_ scanned: ScannedSighting, sentIn: IntervalNumber, metadata: BluetoothMetadata) {
    self.scanned = scanned
    self.sentIn = sentIn
    self.metadata = metadata
  }

  package var time: Date { scanned.sighting.time }
  package var attenuation: Attenuation {
    Attenuation(
      transmitPower: metadata.transmitPower, signalStrength: scanned.sighting.signalStrength)
  }

  /// The reliability of the transmit power. Senders before version 1.1 do not state it; `low`, the
  /// manufacturer's average, is assumed for them.
  package var calibrationConfidence: ENCalibrationConfidence {
    metadata.calibrationConfidence.flatMap { ENCalibrationConfidence(rawValue: $0.rawValue) }
      ?? .low
  }
}

extension MatchedSighting {
  /// Sorts by time, then by attenuation, so that the result does not depend on the input's order.
  static func inOrderOfTime(_ left: MatchedSighting, _ right: MatchedSighting) -> Bool {
    (left.time, left.attenuation) < (right.time, right.attenuation)
  }
}

/// Rejects sightings without a distance, and those with metadata that no real device sends.
///
/// The metadata is not authenticated. An attacker who relays a beacon can flip its bits, for example to
/// make a distant device look near.
package enum PlausibilityRule {
  package static let majorVersion: UInt8 = 1

  /// True if the signal strength was measured, and the metadata has this protocol's major version and a
  /// plausible transmit power.
  package static func accepts(_ sighting: MatchedSighting) -> Bool {
    sighting.scanned.sighting.hasSignalStrength
      && sighting.metadata.majorVersion == majorVersion
      && BluetoothMetadata.plausibleTransmitPower.contains(sighting.metadata.transmitPower)
  }
}

/// Gives all sightings of an identifier the same metadata.
///
/// A device never sends an identifier with two metadata, so all but one are forged. Those with the lowest
/// transmit power, and thus the least distance, count: an attacker cannot make an encounter look farther than
/// it was.
package enum MetadataRule {
  /// Returns the sightings with the metadata of their identifier.
  package static func unified(_ sightings: [MatchedSighting]) -> [MatchedSighting] {
    let nearest = sightings.reduce(into: [IntervalNumber: BluetoothMetadata]()) { chosen, next in
      guard let known = chosen[next.sentIn], !isNearer(next.metadata, known) else {
        return chosen[next.sentIn] = next.metadata
      }
    }
    return sightings.map { sighting in
      MatchedSighting(
        sighting.scanned, sentIn: sighting.sentIn,
        metadata: nearest[sighting.sentIn] ?? sighting.metadata)
    }
  }

  /// The bytes decide between equal transmit powers, so that the result does not depend on the order.
  private static func isNearer(_ left: BluetoothMetadata, _ right: BluetoothMetadata) -> Bool {
    left.transmitPower == right.transmitPower
      ? left.bytes.lexicographicallyPrecedes(right.bytes)
      : left.transmitPower < right.transmitPower
  }
}

/// Rejects sightings of an identifier that was first received more than 20 minutes earlier. Its sender has
/// changed the identifier since, so a later sighting is a replay.
package enum ReplayRule {
  /// The longest time that a device uses one identifier, in seconds.
  package static let identifierLifetime: TimeInterval = 20 * 60

  /// Returns the sightings within the lifetime of their identifier.
  package static func filtered(_ sightings: [MatchedSighting]) -> [MatchedSighting] {
    let first = sightings.reduce(into: [IntervalNumber: Date]()) { first, sighting in
      first[sighting.sentIn] = min(first[sighting.sentIn] ?? sighting.time, sighting.time)
    }
    return sightings.filter { sighting in
      guard let start = first[sighting.sentIn] else { return false }
      return sighting.time.timeIntervalSince(start) <= identifierLifetime
    }
  }
}

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
