import ExposureKeys
import Foundation
import KeyServerAPI
import World

/// How every period that ends at one moment is to be closed, all of them in one transaction: padding
/// that one export needs is in the file of every other that its shape belongs to, from the first day.
struct ClosingPlan: Sendable {
  /// When the periods end; keys released before go in.
  let end: Date
  let periods: [Period]
  /// Draws the bytes of one padding key.
  let keyBytes: @Sendable () -> [UInt8]

  /// One export's period.
  struct Period: Sendable {
    let export: ExportConfiguration
    let start: Date
    /// How many keys there are to be at least, where there is one at all.
    let minimumKeys: Int
  }
}

extension ClosingPlan {
  /// The periods of `exports` that end next, of those that have ended at `now`; nil where all are closed.
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
    keyBytes = { randomness.bytes(UploadLimit.keyByteCount) }
  }

  /// The periods that may be closed given how far all are: not those that are closed already, and none
  /// that ends where another export has closed, for its padding would come too late.
  func due(after progress: ExportProgress) -> [Period] {
    periods.filter { period in
      let closed = progress.closedUntil[period.export.filenameRoot]
      return progress.openFrom < end && closed.map { $0 < end } ?? true
    }
  }

  /// The padding keys that `due` need, whose keys number `counts`, which is brought up to date.
  ///
  /// Padding of one export may be the first keys of another's period, which is then short of its
  /// minimum itself, and would show by its size that all its keys are made up: so it goes on until
  /// none is short.
  ///
  /// - Parameter shapes: Gives at most so many keys of the period, in the order of their bytes.
  func padding(
    of due: [Period], counts: inout [Int],
    shapes: (_ period: Period, _ count: Int) throws -> [PublishableKey]
  ) rethrows -> [PublishableKey] {
    var made: [PublishableKey] = []
    while let short = due.indices.first(where: {
      counts[$0] > 0 && counts[$0] < due[$0].minimumKeys
    }) {
      let filter = due[short].export.filter
      let missing = due[short].minimumKeys - counts[short]
      let real = try shapes(due[short], missing)
      let its = madeUp(missing, like: real.isEmpty ? made.filter(filter.admits) : real)
      guard !its.isEmpty else { return made }
      made += its
      for number in due.indices {
        counts[number] += its.count(where: due[number].export.filter.admits)
      }
    }
    return made
  }

  /// `count` keys shaped like `shapes`, in turn. Released in the last second: inside every period that
  /// ends here, whatever its length.
  private func madeUp(_ count: Int, like shapes: [PublishableKey]) -> [PublishableKey] {
    guard !shapes.isEmpty else { return [] }
    let release = end.addingTimeInterval(-1)
    return (0..<count).compactMap {
      shapes[$0 % shapes.count].withOther(bytes: keyBytes(), releasedAt: release)
    }
  }

  /// Which keys of `count` each later file begins with where none holds more than `maximum`, as even as
  /// can be.
  static func cuts(of count: Int, atMost maximum: Int) -> [Int] {
    let files = (count + maximum - 1) / maximum
    return (0..<max(1, files)).dropFirst().map { count * $0 / files }
  }

  /// The files of a period, of which the later ones begin with `laterKeys`, each named a second later.
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

extension PublishableKey {
  /// A key of this shape with other bytes: what a padding key looks like. Nil where they are none.
  fileprivate func withOther(bytes: [UInt8], releasedAt: Date) -> PublishableKey? {
    guard
      let other = TemporaryExposureKey(
        bytes: bytes, rollingStart: key.key.rollingStart, rollingPeriod: key.key.rollingPeriod),
      let made = DiagnosisKey(
        key: other, transmissionRiskLevel: key.transmissionRiskLevel, reportType: key.reportType,
        daysSinceOnsetOfSymptoms: key.daysSinceOnsetOfSymptoms)
    else { return nil }
    return PublishableKey(key: made, regions: regions, travels: travels, releasedAt: releasedAt)
  }
}
