// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import World

/// The plan for closing all periods that end at one moment in one transaction, so that the padding of one export
/// also appears in every other export whose filter admits it.
///
/// All decisions are made here; a database only finds and stores the rows of `ClosingRows`.
struct ClosingPlan: Sendable {
  /// The end of the periods; keys released earlier belong to them.
  let end: Date
  let periods: [Period]
  /// The source of padding.
  let randomness: any Randomness

  /// The period of one export.
  struct Period: Sendable {
    let export: ExportConfiguration
    let start: Date
    /// The minimum number of keys if there is at least one.
    let minimumKeys: Int
  }
}

extension ClosingPlan {
  /// Plans the closing of the next periods of `exports`; nil if all periods that ended by `now` are closed.
  init?(
    for exports: [ExportConfiguration], after progress: ExportProgress, at now: Date,
    randomness: any Randomness
  ) {
    let next = exports.map { (export: $0, period: progress.nextPeriod(of: $0, at: now)) }
    guard let end = next.map(\.period.end).min(), end <= now else { return nil }
    self.end = end
    periods = next.filter { $0.period.end == end }.map { export, period in
      Period(
        export: export, start: period.start,
        minimumKeys: export.minimumKeys + randomness.number(in: 0...export.paddingRange))
    }
    self.randomness = randomness
  }

  /// Closes the periods that are due: adds padding and stores the descriptions of their files. It has to run in one
  /// transaction.
  ///
  /// - Returns: The new batches; empty if no period is due or none has keys.
  func close(in rows: some ClosingRows) throws -> [Batch] {
    let due = due(after: try rows.progress())
    for period in due { try rows.setClosed(period.export.filenameRoot, until: end) }
    let revised = try due.map { try rows.revisedCount(in: selection(of: $0)) }
    // Exact if a period needs padding, which may be more than fits in a file of another one.
    var counts = try rows.releasedCounts(of: zip(due, revised).map { counted($0, revised: $1) })
    let padding = try padding(of: due, counts: &counts) { period, count in
      try rows.released(in: selection(of: period), atMost: count)
    }
    try rows.insert(padding)
    let batches = try due.indices.flatMap {
      try self.batches(of: due[$0], count: counts[$0] + revised[$0], in: rows)
    }
    try rows.insert(batches)
    return batches
  }

  /// A period that needs no padding and fits in one file may have any number of keys.
  private func counted(_ period: Period, revised: Int) -> CountedSelection {
    let (least, most) = (
      max(1, period.minimumKeys), period.export.maximumKeysPerFile - revised
    )
    return CountedSelection(
      selection: selection(of: period), indifferent: least <= most ? least...most : nil)
  }

  private func selection(of period: Period) -> KeySelection {
    KeySelection(start: period.start, end: end, filter: period.export.filter)
  }

  /// Returns the batches of `period`, which has `count` new and revised keys.
  private func batches(
    of period: Period, count: Int, in rows: some ClosingRows
  ) throws -> [Batch] {
    guard count > 0 else { return [] }
    let cuts = Self.cuts(of: count, atMost: period.export.maximumKeysPerFile)
    return batches(
      of: period, laterKeys: try rows.keys(at: Set(cuts), in: selection(of: period)))
  }

  /// Returns the periods that may be closed after `progress`. Closed periods are left out, and so are periods
  /// that end at or before a moment that another export has closed: their padding could not be added there.
  private func due(after progress: ExportProgress) -> [Period] {
    periods.filter { period in
      let closed = progress.closedUntil[period.export.filenameRoot]
      return progress.openFrom < end && closed.map { $0 < end } ?? true
    }
  }

  /// Returns the padding keys that `due` need, and updates `counts`, the numbers of keys of these periods.
  ///
  /// Padding of one export may be the only content of another export's period. A file below its minimum would
  /// reveal that all its keys are padding, so padding is added until no period is below its minimum.
  ///
  /// - Parameter templates: Returns at most `count` keys of the period, in the order of their bytes.
  func padding(
    of due: [Period], counts: inout [Int],
    templates: (_ period: Period, _ count: Int) throws -> [PublishableKey]
  ) rethrows -> [PublishableKey] {
    var padding: [PublishableKey] = []
    while let short = due.indices.first(where: {
      counts[$0] > 0 && counts[$0] < due[$0].minimumKeys
    }) {
      let filter = due[short].export.filter
      let missing = due[short].minimumKeys - counts[short]
      // All of them: padding must have each style and shape that a real key has.
      let real = try templates(due[short], counts[short])
      let uploads = SyntheticUploads(
        like: real.isEmpty ? padding.filter(filter.admits) : real, from: due[short].start, to: end,
        randomness: randomness)
      let added = uploads?.keys(missing) ?? []
      guard !added.isEmpty else { return padding }
      padding += added
      for number in due.indices {
        counts[number] += added.count(where: due[number].export.filter.admits)
      }
    }
    return padding
  }

  /// Returns the positions at which `count` keys are split so that no file exceeds `maximum` and all have
  /// nearly the same size.
  private static func cuts(of count: Int, atMost maximum: Int) -> [Int] {
    let files = (count + maximum - 1) / maximum
    return (0..<max(1, files)).dropFirst().map { count * $0 / files }
  }

  /// Returns the batches of a period whose second and later files begin with `laterKeys`. The end of each is a
  /// second after that of the one before, which makes the file names unique.
  private func batches(of period: Period, laterKeys: [Data]) -> [Batch] {
    let firstKeys: [Data?] = [nil] + laterKeys
    return firstKeys.indices.map { number in
      Batch(
        export: period.export.filenameRoot, region: period.export.region,
        end: end.addingTimeInterval(Double(number)),
        selection: KeySelection(
          start: period.start, end: end, filter: period.export.filter, firstKey: firstKeys[number],
          beforeKey: number + 1 < firstKeys.count ? firstKeys[number + 1] : nil))
    }
  }
}

/// A selection whose keys are counted.
struct CountedSelection {
  let selection: KeySelection
  /// If the numbers of all selections are in their ranges, any others in them will do, which may be found in less time.
  /// Nil: none.
  var indifferent: ClosedRange<Int>?
}

/// The rows that closing periods reads and writes in one transaction.
protocol ClosingRows {
  /// Returns the time until which each export is closed.
  func progress() throws -> ExportProgress

  /// Marks all periods of the export `root` that end at `end` or before as closed.
  func setClosed(_ root: String, until end: Date) throws

  /// Returns the number of keys that were released in each of `selections`, which all end at one moment.
  func releasedCounts(of selections: [CountedSelection]) throws -> [Int]

  /// Returns the number of keys that were released before the selection and revised in it.
  func revisedCount(in selection: KeySelection) throws -> Int

  /// Returns at most `count` of the keys that were released in the selection, the first ones by their bytes.
  func released(in selection: KeySelection, atMost count: Int) throws -> [PublishableKey]

  /// Returns the bytes of the keys at `positions` in the order of all released and revised keys.
  func keys(at positions: Set<Int>, in selection: KeySelection) throws -> [Data]

  /// Inserts padding. Its release times are those of the plan, before the end of the periods that are being closed.
  func insert(_ padding: [PublishableKey]) throws

  /// Stores the descriptions of files.
  func insert(_ batches: [Batch]) throws
}
