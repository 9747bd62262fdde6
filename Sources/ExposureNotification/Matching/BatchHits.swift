import DiagnosisKeyFile
import ExposureKeys

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
  func matches(in index: ContactIndex) -> [UnopenedMatch] {
    let heard = intervals.map { HeardIntervals($0, in: index) }
    return placeOfRow.enumerated().compactMap { row, place in
      place == Self.none ? nil : UnopenedMatch(key: batch[row], heard: heard[Int(place)])
    }
  }
}
