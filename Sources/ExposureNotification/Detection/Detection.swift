import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// One search through key files for people that a phone has met.
///
/// Pure but for reading the files, which only `DiagnosisKeyFile` parses. What is found in a file
/// counts only once its signature holds; one bad file spoils the whole detection
/// (Documentation/RiskScoring.md 1.9).
package struct Detection: Sendable {
  /// How many keys are searched for between two looks at whether the app still wants to know.
  package static let keysPerBatch = 1_000

  private let rules: DetectionRules
  private let keyFiles: [URL]
  private let earlierKeys: [DiagnosisKey]
  private let sightings: [Sighting]
  private let now: Date
  private let progress: Progress

  /// A detection of what `keyFiles` (zips, or `.bin` with `.sig` beside it) and `sightings` share.
  ///
  /// `apiVersion` is 1 or 2. Throws `ENError.badParameter` with a sentence that names the field of
  /// `configuration` that is out of range.
  package init(
    configuration: ENExposureConfiguration, keyFiles: [URL],
    verificationKeys: [VerificationPublicKey], sightings: [Sighting], now: Date,
    apiVersion: Int, progress: Progress
  ) throws(ENError) {
    self.init(
      rules: try DetectionRules(
        configuration, apiVersion: apiVersion, verificationKeys: verificationKeys),
      keyFiles: try Self.filesToRead(keyFiles), earlierKeys: [], sightings: sightings, now: now,
      progress: progress)
  }

  /// A detection by `rules` that also searches for `earlierKeys`, which were verified before.
  init(
    rules: DetectionRules, keyFiles: [URL], earlierKeys: [DiagnosisKey], sightings: [Sighting],
    now: Date, progress: Progress
  ) {
    self.rules = rules
    self.keyFiles = keyFiles
    self.earlierKeys = earlierKeys
    self.sightings = sightings
    self.now = now
    self.progress = progress
  }

  /// Reads, matches and scores; `progress` counts the files.
  ///
  /// Throws `ENError.badFormat` where a file cannot be read, is damaged or not signed by one of the
  /// keys, `CancellationError` where `progress` was cancelled.
  package func run() throws -> DetectionResult {
    result(of: try search())
  }

  /// Reads and matches; throws as `run` does.
  func search() throws -> MatchLedger {
    progress.totalUnitCount = Int64(keyFiles.count)
    var ledger = MatchLedger(
      Matcher(ContactIndex(ScannedSighting.inOrder(sightings))), now: IntervalNumber(now))
    for start in stride(from: 0, to: earlierKeys.count, by: Self.keysPerBatch) {
      try checkIsWanted()
      ledger.search(Array(earlierKeys[start...].prefix(Self.keysPerBatch)))
    }
    for file in keyFiles {
      try checkIsWanted()
      try search(file, &ledger)
      progress.completedUnitCount += 1
    }
    return ledger
  }

  /// Scores what `search` found.
  func result(of ledger: MatchLedger) -> DetectionResult {
    rules.scoring.result(of: ledger.matches, now: now)
  }

  private func search(_ file: URL, _ ledger: inout MatchLedger) throws {
    do {
      let verified = try UnverifiedKeyFile(at: file)
        .verified(by: rules.verificationKeys, batchSize: Self.keysPerBatch) { batch in
          try checkIsWanted()
          ledger.search(batch.keys.filter(rules.variant.regards), areRevised: batch.areRevised)
        }
      try rules.check(verified.facts.header)
    } catch let error as KeyFileError {
      throw ENError(error)
    }
  }

  private func checkIsWanted() throws {
    guard !progress.isCancelled else { throw CancellationError() }
  }

  /// Apple's apps name both halves of a pair; the signature is read with its export.
  static func filesToRead(_ urls: [URL]) throws(ENError) -> [URL] {
    let signatures = urls.filter { $0.pathExtension == "sig" }
    let exports = Set(urls.filter { $0.pathExtension == "bin" }.map(\.standardizedFileURL.path))
    for signature in signatures {
      let export = signature.deletingPathExtension().appendingPathExtension("bin")
      guard exports.contains(export.standardizedFileURL.path) else {
        throw ENError(
          .badFormat, explanation: "A signature file has no export beside it; pass both.")
      }
    }
    return urls.filter { $0.pathExtension != "sig" }
  }
}
