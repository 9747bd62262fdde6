import ExposureKeys
import Foundation
import Logging
import SealedStorage
import Secrets

/// The keys of earlier detections that later ones match again, in a sealed file. API version 2 only.
struct RetainedKeyStore: Sendable {
  private let file: SealedFile
  private let logger: Logger

  init(file: SealedFile, logger: Logger) {
    self.file = file
    self.logger = logger
  }

  /// Returns the keys that are not older than the retention period, in their stored order. A damaged
  /// file is set aside.
  func read(at now: Date) throws(SealedStorageError) -> [RetainedKey] {
    let content: Data?
    do throws(SealedStorageError) {
      content = try file.read()
    } catch {
      guard error == .damaged else { throw error }
      logger.error("the keys of earlier detections are damaged; their file is set aside")
      _ = try? file.setAside()
      return []
    }
    let stored = content.flatMap { try? JSONDecoder().decode([RetainedKeyRecord].self, from: $0) }
    return (stored ?? []).compactMap(\.key).filter { $0.isRetained(at: now) }
  }

  /// Replaces the stored keys with the first `DeviceLimit.retainedKeys` of `keys`.
  func replace(with keys: [RetainedKey]) throws(SealedStorageError) {
    // Most devices have no key to store and need no file.
    if keys.isEmpty, (try? file.read()) == nil { return }
    let stored = keys.prefix(DeviceLimit.retainedKeys).map(RetainedKeyRecord.init)
    guard let content = try? JSONEncoder().encode(stored) else { throw .damaged }
    try file.replace(with: content)
  }

  func removeAll() throws(SealedStorageError) {
    try file.remove()
  }
}

/// A published key that later detections match again, the date when it was first passed in, and the digests of
/// the files that contain it.
///
/// Redacted, because it reveals whom the user met.
struct RetainedKey: Hashable, Sendable, Redacted {
  let key: DiagnosisKey
  let since: Date
  var files: Set<Data> = []

  func isRetained(at now: Date) -> Bool {
    now.timeIntervalSince(since) <= Double(DeviceLimit.retentionDays) * Day.seconds
  }
}

/// `RetainedKey` as stored in the sealed file `matches`.
struct RetainedKeyRecord: Codable, Redacted {
  let bytes: Data
  let start: UInt32
  let period: UInt32
  let risk: UInt8
  let report: Int32?
  let daysSinceOnset: Int32?
  let variant: UInt8?
  let since: Date
  let files: [Data]

  init(_ retained: RetainedKey) {
    bytes = Data(retained.key.key.secretBytes)
    start = retained.key.key.rollingStart.rawValue
    period = retained.key.key.rollingPeriod
    risk = retained.key.transmissionRiskLevel
    report = retained.key.reportType?.rawValue
    daysSinceOnset = retained.key.daysSinceOnsetOfSymptoms
    variant = retained.key.variantOfConcern?.rawValue
    since = retained.since
    files = retained.files.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The key, or nil if the stored values are not valid.
  var key: RetainedKey? {
    TemporaryExposureKey(
      bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period
    ).flatMap { key in
      DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: report.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: daysSinceOnset,
        variantOfConcern: variant.flatMap(VariantOfConcern.init))
    }.map { RetainedKey(key: $0, since: since, files: Set(files)) }
  }
}
