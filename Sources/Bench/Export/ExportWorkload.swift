import ExposureKeys
import Foundation
import KeyServer
import World

/// Random keys that are released in one period, for the measurement of an export.
enum ExportWorkload {
  private static let keysInOneCommit = 20_000

  /// Creates the database and inserts `keyCount` keys of the last 14 days, which are released in the four hours from
  /// `start` and have all fields that an upload sets.
  static func fill(
    _ file: URL, region: String, keyCount: Int, releasedFrom start: Date,
    randomness: any Randomness
  ) throws {
    for first in stride(from: 0, to: keyCount, by: keysInOneCommit) {
      let keys = (first..<min(first + keysInOneCommit, keyCount)).compactMap { number in
        key(number, before: start, randomness).map {
          (key: $0, releasedAt: start.addingTimeInterval(Double(number % 4) * 3_600))
        }
      }
      try KeyServer.insert(keys, of: region, into: file, at: start)
    }
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
