// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation

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
    let matcher = Matcher(index)
    var search = KeySearch(
      matcher, threads: threads,
      unexpiredKeys: IntervalNumber(now).map(UnexpiredKeyFilter.init(at:)),
      progress: progress)
    var ledger = MatchLedger(
      requiresFullDayKeys: rules.requiresFullDayKeys,
      changedKeys: changedKeys)
    try search.run(into: &ledger) { each in
      for start in stride(from: 0, to: earlierKeys.count, by: matcher.keysPerBatch) {
        let keys = KeyBatch(earlierKeys[start...].prefix(matcher.keysPerBatch))
        try each(ProvisionalKeyBatch(keys: keys))
      }
    }
    var batches = ExportBatches()
    for (index, file) in keyFiles.enumerated() {
      try checkCancellation()
      ledger.file = index
      batches.add(
        try search.run(into: &ledger) { each in
          try read(file, batchSize: matcher.keysPerBatch, each)
        })
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
    _ file: URL, batchSize: Int, _ each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileHeader {
    do {
      let verified = try UnverifiedKeyFile(at: file).verified(
        by: rules.verificationKeys, batchSize: batchSize, each: each)
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

/// The rules of a detection, read from an app's configuration and the device's settings.
struct DetectionRules: Sendable {
  let scoring: DetectionScoring
  /// True if keys that were used for less than a day are ignored.
  let requiresFullDayKeys: Bool
  let verificationKeys: [VerificationPublicKey]
  /// The region of accepted files; nil if the signature alone decides.
  private let region: RegionConfiguration?

  /// - Throws: `ENError.badParameter` with an explanation that names the invalid field.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int,
    verificationKeys: [VerificationPublicKey]
  ) throws(ENError) {
    scoring = try DetectionScoring(configuration, apiVersion: apiVersion)
    requiresFullDayKeys = false
    self.verificationKeys = verificationKeys
    region = nil
  }

  /// Creates rules for a device of `region`.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1,
    requiresFullDayKeys: Bool = false, region: RegionConfiguration
  ) throws(ENError) {
    scoring = try DetectionScoring(
      configuration, apiVersion: apiVersion, durationStep: durationStep)
    self.requiresFullDayKeys = requiresFullDayKeys
    verificationKeys = region.keys
    self.region = region
  }

  /// The infectiousness by days since the onset of symptoms; version 2 only.
  var infectiousnessMap: [Int: UInt32]? {
    guard case .windows(let rules, _) = scoring else { return nil }
    return rules.map
  }

  /// Checks that a file belongs to the region.
  ///
  /// - Throws: `ENError.badFormat` if the file belongs to another region.
  func check(_ header: KeyFileHeader) throws(ENError) {
    guard let region, !region.isNamed(header.region) else { return }
    throw ENError(
      .badFormat,
      explanation:
        "A key file belongs to another region than \(region.region); pass files of this region.")
  }
}

/// The files of a detection by export. The batches of a divided export count only together.
struct ExportBatches {
  private struct Export: Hashable {
    let start: UInt64
    let end: UInt64
    let region: String
    let batchSize: Int32
  }

  private var numbers: [Export: Set<Int32>] = [:]

  /// Adds the file with the verified `header`, whose batch number is within its batch.
  mutating func add(_ header: KeyFileHeader) {
    let export = Export(
      start: header.start, end: header.end, region: header.region, batchSize: header.batchSize)
    numbers[export, default: []].insert(header.batchNumber)
  }

  /// Checks that no batch is missing.
  ///
  /// - Throws: `ENError.badFormat`, because results without the other batches would be incomplete.
  func checkCompleteness() throws(ENError) {
    for (export, present) in numbers where present.count < export.batchSize {
      throw ENError(
        .badFormat,
        explanation: """
          The key files are incomplete: only \(present.count) of \(export.batchSize) batches of an \
          export were passed; pass all of them in one call.
          """)
    }
  }
}

/// The number of threads of a detection.
enum DetectionThreads {
  /// The maximum: reading and inflating a file keeps no more threads busy.
  static let maximum = 4

  /// The number of available processors, at most `maximum`.
  static let available = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), maximum)
}
