// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import World

/// The plan for closing all periods that end at one moment in one transaction, so that the padding of one export
/// also appears in every other export whose filter admits it.
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

  /// Returns the periods that may be closed after `progress`. Closed periods are left out, and so are periods
  /// that end at or before a moment that another export has closed: their padding could not be added there.
  func due(after progress: ExportProgress) -> [Period] {
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
  static func cuts(of count: Int, atMost maximum: Int) -> [Int] {
    let files = (count + maximum - 1) / maximum
    return (0..<max(1, files)).dropFirst().map { count * $0 / files }
  }

  /// Returns the batches of a period whose second and later files begin with `laterKeys`. The end of each is a
  /// second after that of the one before, which makes the file names unique.
  func batches(of period: Period, laterKeys: [Data]) -> [Batch] {
    let firstKeys: [Data?] = [nil] + laterKeys
    return firstKeys.indices.map { number in
      Batch(
        export: period.export.filenameRoot, region: period.export.region, start: period.start,
        end: end.addingTimeInterval(Double(number)), releasedBefore: end,
        filter: period.export.filter, firstKey: firstKeys[number],
        beforeKey: number + 1 < firstKeys.count ? firstKeys[number + 1] : nil)
    }
  }
}

/// The keys of one batch, read from the database one at a time.
struct BatchKeys {
  /// The way in which a key came into the file.
  enum Kind: Hashable, Sendable {
    case uploaded
    /// A synthetic key.
    case padding
    /// A key of an earlier file with other properties.
    case revised
  }

  typealias Body = (_ key: DiagnosisKey, _ kind: Kind) throws -> Void

  private let read: (_ body: Body) throws -> Void

  init(_ read: @escaping (_ body: Body) throws -> Void) {
    self.read = read
  }

  /// Calls `body` for every new key in the order of their bytes, then for every revised key in the same order.
  func forEach(_ body: Body) throws {
    try read(body)
  }
}

/// The state of all exports of a server.
struct ExportProgress: Hashable, Sendable {
  /// The moment until which each export is closed, by file name root. Exports that are no longer configured
  /// stay in it.
  var closedUntil: [String: Date] = [:]

  /// The first moment that no export has closed. A new key is released at this moment or later, so that it is in
  /// the next file of every export and in no closed one.
  var openFrom: Date { closedUntil.values.max() ?? Date(unixSecond: 0) }

  /// Adds the new ones of `exports`. Each begins with the period that contains `now`, or with the current period of
  /// the other exports if they are behind, so that it does not close a period before they do.
  mutating func begin(_ exports: [ExportConfiguration], at now: Date) {
    let moment = closedUntil.isEmpty ? now : min(now, openFrom)
    for export in exports where closedUntil[export.filenameRoot] == nil {
      closedUntil[export.filenameRoot] = export.period.boundary(notAfter: moment)
    }
  }

  /// Returns the period of `export` that ends next.
  ///
  /// It ends after everything that any export has closed, because its padding must be added to all of them. If an
  /// export was removed from the configuration and is added again, the periods it missed are part of this period,
  /// as far back as keys are retained.
  func nextPeriod(of export: ExportConfiguration, at now: Date) -> (start: Date, end: Date) {
    let period = export.period
    let oldest = period.boundary(
      notAfter: now.addingTimeInterval(-KeyServerLimit.retentionSeconds))
    let start = max(closedUntil[export.filenameRoot] ?? oldest, oldest)
    return (start, period.boundary(after: max(start, openFrom)))
  }
}
