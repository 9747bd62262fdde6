// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import World

/// The date that the user states for an upload. It stays on the phone: only the transmission risk of each key, which
/// follows from it, is sent.
public enum Diagnosis: Codable, Hashable, Sendable {
  /// No date is stated.
  case notStated
  /// The day of the test.
  case test(day: CalendarDay)
  /// The day of the first symptoms.
  case symptoms(day: CalendarDay)

  /// The day that is stated.
  public var day: CalendarDay? {
    switch self {
    case .notStated: nil
    case .test(let day), .symptoms(let day): day
    }
  }

  /// Returns `true` if the stated day is today or one of the fourteen days before, in the time zone of the page or
  /// command on which the user has stated it.
  public func isUsable(at now: Date) -> Bool {
    day?.isTodayOrBefore(by: RemovalRule.exposureDays, at: now) ?? true
  }
}

/// Chooses the transmission risk of the keys of an upload.
struct TransmissionRisks: Sendable {
  /// The health authority's tables; `nil` for ProteGO Safe's constant.
  let configuration: TransmissionRiskConfiguration?
  let diagnosis: Diagnosis

  /// The risk of the same keys without tables and date.
  static let constant = TransmissionRisks(configuration: nil, diagnosis: .notStated)

  /// The risk of a key that starts at `date`; `nil` if the key is not shared.
  func risk(ofKeyFrom date: Date) -> Int? {
    guard let configuration else { return ReleasedKey.protegoRisk }
    let key = UTCDay(of: date)
    return switch diagnosis {
    case .notStated: configuration.withoutDate
    case .test(let day): configuration.risk(daysSinceTest: key.days(since: day))
    case .symptoms(let day): configuration.risk(daysSinceOnsetOfSymptoms: key.days(since: day))
    }
  }
}

/// Selects the keys of an upload.
enum KeySelection {
  /// The keys to share, with their transmission risks.
  static func keys(of all: [ReleasedKey], _ risks: TransmissionRisks = .constant, at now: Date)
    throws(UploadFailure) -> [ReleasedKey]
  {
    let keys = shared(all, risks, at: now)
    guard !keys.isEmpty else { throw .nothingToShare }
    switch UploadLimit.violation(of: standIns(for: keys), at: now) {
    case nil: return keys
    case .keyCount: throw .tooManyKeys
    case .keysWithOneStart: throw .tooManyKeysOfOneDay
    default: throw .keysOutOfOrder
    }
  }

  /// The keys of the last fourteen days that are shared, with their transmission risks.
  static func shared(_ all: [ReleasedKey], _ risks: TransmissionRisks, at now: Date)
    -> [ReleasedKey]
  {
    let tooOld = Date(unixDay: now.unixDay - RemovalRule.exposureDays)
    return all.compactMap { key in
      guard key.start > tooOld, let risk = risks.risk(ofKeyFrom: key.start) else { return nil }
      var key = key
      key.transmissionRisk = risk
      return key
    }
  }

  /// Keys with the same times and other bytes. The limits depend on the bytes only if a key is repeated.
  private static func standIns(for keys: [ReleasedKey]) -> [UploadKey] {
    keys.map { key in
      let number = keys.firstIndex { $0.bytes == key.bytes } ?? 0
      let bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: key.bytes.count)
      return UploadKey(
        key: bytes.base64EncodedString(), rollingPeriod: key.rollingPeriod,
        rollingStartNumber: key.rollingStartNumber, transmissionRisk: key.transmissionRisk)
    }
  }
}

/// A key that an upload would share, without its bytes.
public struct KeyPreview: Hashable, Sendable {
  /// The day of the key.
  public let day: UTCDay
  /// The transmission risk that the upload states, 1...8.
  public let transmissionRisk: Int
  /// The number of ten-minute intervals of the key.
  public let rollingPeriod: Int
  /// True if the key is not shared, because the phone's clock was wrong on its day.
  public internal(set) var isWithheld = false
}

extension ReleasedKey {
  /// The length of an interval, in seconds.
  private static let intervalSeconds: Int64 = 600

  /// The time at which the key starts.
  var start: Date { Date(unixSecond: Int64(rollingStartNumber) * Self.intervalSeconds) }

  /// The time at which the key ends.
  var end: Date {
    Date(unixSecond: (Int64(rollingStartNumber) + Int64(rollingPeriod)) * Self.intervalSeconds)
  }

  var preview: KeyPreview {
    KeyPreview(
      day: UTCDay(of: start), transmissionRisk: transmissionRisk, rollingPeriod: Int(rollingPeriod))
  }
}
