import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import World

/// Searches key files for contacts of this device and scores them.
///
/// The only side effect is reading the files. Matches of a file count after its signature is verified; one
/// invalid file fails the whole detection.
package struct Detection: Sendable {
  private let rules: DetectionRules
  private let keyFiles: [URL]
  private let earlierKeys: [DiagnosisKey]
  private let changedKeys: [DiagnosisKey]
  private let received: ReceivedBeacons
  private let now: Date
  private let secret: ProbeSecret
  private let threads: Int
  private let progress: Progress

  /// Creates a detection for tools, which have no `Device`.
  ///
  /// - Parameters:
  ///   - keyFiles: Zips, or `.bin` files with their `.sig` in the same folder.
  ///   - apiVersion: 1 or 2.
  ///   - secret: A new random secret.
  /// - Throws: `ENError.badParameter` with an explanation that names the invalid field.
  package init(
    configuration: ENExposureConfiguration, keyFiles: [URL],
    verificationKeys: [VerificationPublicKey], sightings: [Sighting], now: Date,
    apiVersion: Int, secret: ProbeSecret, threads: Int = 1, progress: Progress
  ) throws(ENError) {
    self.init(
      rules: try DetectionRules(
        configuration, apiVersion: apiVersion, verificationKeys: verificationKeys),
      keyFiles: try Self.filesToRead(keyFiles), earlierKeys: [],
      received: ReceivedBeacons(sightings), now: now, secret: secret, threads: threads,
      progress: progress)
  }

  /// Creates a detection that also searches `earlierKeys`, which were verified before. The report types of
  /// `changedKeys`, which are among them, do not change again.
  init(
    rules: DetectionRules, keyFiles: [URL], earlierKeys: [DiagnosisKey],
    changedKeys: [DiagnosisKey] = [],
    received: ReceivedBeacons, now: Date, secret: ProbeSecret,
    threads: Int = DetectionThreads.available, progress: Progress
  ) {
    self.rules = rules
    self.keyFiles = keyFiles
    self.earlierKeys = earlierKeys
    self.changedKeys = changedKeys
    self.received = received
    self.now = now
    self.secret = secret
    self.threads = threads
    self.progress = progress
  }

  /// Reads, matches and scores; `progress` counts the files.
  ///
  /// - Throws: `ENError.badFormat` if a file is unreadable, damaged or not signed by a trusted key, or a
  ///   batch of its export is missing; `CancellationError` if `progress` was cancelled.
  package func run() throws -> DetectionResult {
    result(of: try search())
  }

  /// Reads and matches; throws like `run`.
  func search() throws -> MatchLedger {
    progress.totalUnitCount = Int64(keyFiles.count)
    let scanned = ScannedSighting.inOrder(received.sightings, scanTimes: received.scanTimes)
    let index = ContactIndex(scanned, secret: secret)
    var search = KeySearch(
      Matcher(index), threads: threads,
      unexpiredKeys: IntervalNumber(now).map(UnexpiredKeyFilter.init(at:)),
      progress: progress)
    var ledger = MatchLedger(
      requiresFullDayKeys: rules.requiresFullDayKeys,
      changedKeys: changedKeys)
    try search.run(into: &ledger) { each in
      for start in stride(from: 0, to: earlierKeys.count, by: MatchLimit.keysPerBatch) {
        let keys = KeyBatch(earlierKeys[start...].prefix(MatchLimit.keysPerBatch))
        try each(ProvisionalKeyBatch(keys: keys))
      }
    }
    var batches = ExportBatches()
    for (index, file) in keyFiles.enumerated() {
      try checkCancellation()
      ledger.file = index
      batches.add(try search.run(into: &ledger) { each in try read(file, each) })
      progress.completedUnitCount += 1
    }
    try batches.checkCompleteness()
    return ledger
  }

  /// Scores the result of `search`.
  func result(of ledger: MatchLedger) -> DetectionResult {
    rules.scoring.result(of: ledger.matches, now: now)
  }

  private func read(
    _ file: URL, _ each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileHeader {
    do {
      let verified = try UnverifiedKeyFile(at: file).verified(
        by: rules.verificationKeys, batchSize: MatchLimit.keysPerBatch, each: each)
      try rules.check(verified.header)
      return verified.header
    } catch let error as KeyFileError {
      throw ENError(error)
    }
  }

  private func checkCancellation() throws {
    guard !progress.isCancelled else { throw CancellationError() }
  }

  /// The files to open. Apple's apps pass both files of a pair; the signature is read with its export.
  static func filesToRead(_ urls: [URL]) throws(ENError) -> [URL] {
    let signatures = urls.filter { $0.pathExtension == "sig" }
    let exports = Set(urls.filter { $0.pathExtension == "bin" }.map(\.standardizedFileURL.path))
    for signature in signatures {
      let export = signature.deletingPathExtension().appendingPathExtension("bin")
      guard exports.contains(export.standardizedFileURL.path) else {
        throw ENError(
          .badFormat,
          explanation: "A signature file was passed without its export; pass both files.")
      }
    }
    return urls.filter { $0.pathExtension != "sig" }
  }
}

/// The number of threads of a detection.
enum DetectionThreads {
  /// The maximum: reading and inflating a file keeps no more threads busy.
  static let maximum = 4

  /// The number of available processors, at most `maximum`.
  static let available = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), maximum)
}

/// The SHA-256 of a key file, by which a device recognizes files that it has processed.
enum KeyFileDigest {
  /// Returns nil if the file is unreadable; the detection reports that error.
  static func of(_ file: URL) -> Data? {
    var hash = SHA256()
    guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
    return Data(hash.finalize())
  }
}
