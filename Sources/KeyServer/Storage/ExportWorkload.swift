import ExposureKeys
import Foundation
import GRDB
import World

/// Keys that nobody ever had, released in one period, to measure an export with.
package enum ExportWorkload {
  private static let keysInOneCommit = 20_000

  /// Makes the database and commits `keyCount` keys: days of two weeks in turn, released in the four
  /// hours from `start`, with every field that an upload sets.
  package static func fill(
    _ file: URL, region: String, keyCount: Int, releasedFrom start: Date,
    randomness: any Randomness
  ) throws {
    let store = try SQLiteKeyStore(
      file: file, exports: [ExportConfiguration(filenameRoot: "", region: region)], at: start)
    for first in stride(from: 0, to: keyCount, by: keysInOneCommit) {
      let keys = (first..<min(first + keysInOneCommit, keyCount)).compactMap { number in
        key(number, before: start, randomness).map {
          StoredKey(
            PublishableKey(
              key: $0, regions: [region], travels: false,
              releasedAt: start.addingTimeInterval(Double(number % 4) * 3_600)))
        }
      }
      try store.pool.write { try KeyInsertion(in: $0).insert(keys) }
    }
    try store.pool.close()
  }

  private static func key(
    _ number: Int, before start: Date, _ randomness: any Randomness
  ) -> DiagnosisKey? {
    let day = UInt32(number % 14)
    return IntervalNumber(start).flatMap {
      TemporaryExposureKey(
        bytes: randomness.bytes(TemporaryExposureKey.byteCount),
        rollingStart: IntervalNumber(rawValue: $0.rawValue - (day + 1) * IntervalNumber.perDay))
    }.flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: 8, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: Int32(day) - 7)
    }
  }
}
