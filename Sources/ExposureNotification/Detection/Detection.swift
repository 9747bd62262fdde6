import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// One search through key files for people that a phone has met.
///
/// Pure but for reading the files, which only `DiagnosisKeyFile` parses. What is found in a file
/// counts only once its signature holds; one bad file spoils the whole detection
/// (Documentation/RiskScoring.md 1.9).
package struct Detection: Sendable {
  private let rules: DetectionRules
  private let keyFiles: [URL]
  private let earlierKeys: [DiagnosisKey]
  private let sightings: [Sighting]
  private let now: Date
  private let secret: ProbeSecret
  private let threads: Int
  private let progress: Progress

  /// A detection of what `keyFiles` (zips, or `.bin` with `.sig` beside it) and `sightings` share.
  ///
  /// `apiVersion` is 1 or 2; `secret` comes from the phone's `Randomness`. Throws
  /// `ENError.badParameter` with a sentence that names the field of `configuration` out of range.
  package init(
    configuration: ENExposureConfiguration, keyFiles: [URL],
    verificationKeys: [VerificationPublicKey], sightings: [Sighting], now: Date,
    apiVersion: Int, secret: ProbeSecret, threads: Int = 1, progress: Progress
  ) throws(ENError) {
    self.init(
      rules: try DetectionRules(
        configuration, apiVersion: apiVersion, verificationKeys: verificationKeys),
      keyFiles: try Self.filesToRead(keyFiles), earlierKeys: [], sightings: sightings, now: now,
      secret: secret, threads: threads, progress: progress)
  }

  /// A detection by `rules` that also searches for `earlierKeys`, which were verified before.
  init(
    rules: DetectionRules, keyFiles: [URL], earlierKeys: [DiagnosisKey], sightings: [Sighting],
    now: Date, secret: ProbeSecret, threads: Int = DetectionThreads.available, progress: Progress
  ) {
    self.rules = rules
    self.keyFiles = keyFiles
    self.earlierKeys = earlierKeys
    self.sightings = sightings
    self.now = now
    self.secret = secret
    self.threads = threads
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
    let index = ContactIndex(ScannedSighting.inOrder(sightings), secret: secret)
    var search = KeySearch(
      Matcher(index), threads: threads, unexpiredKeys: IntervalNumber(now).map(UnexpiredKeyFilter.init(at:)),
      progress: progress)
    var ledger = MatchLedger(requiresFullDayKeys: rules.requiresFullDayKeys)
    try search.run(into: &ledger) { each in
      for start in stride(from: 0, to: earlierKeys.count, by: MatchLimit.keysPerBatch) {
        let keys = KeyBatch(earlierKeys[start...].prefix(MatchLimit.keysPerBatch))
        try each(ProvisionalKeyBatch(keys: keys))
      }
    }
    for file in keyFiles {
      try checkIsWanted()
      try search.run(into: &ledger) { each in try read(file, each) }
      progress.completedUnitCount += 1
    }
    return ledger
  }

  /// Scores what `search` found.
  func result(of ledger: MatchLedger) -> DetectionResult {
    rules.scoring.result(of: ledger.matches, now: now)
  }

  private func read(_ file: URL, _ each: (ProvisionalKeyBatch) throws -> Void) throws {
    do {
      let verified = try UnverifiedKeyFile(at: file).verified(
        by: rules.verificationKeys, batchSize: MatchLimit.keysPerBatch, each: each)
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

/// On how many threads a detection searches.
enum DetectionThreads {
  /// At most this many, however many processors there are: reading a file keeps no more busy
  /// (Documentation/Matching.md 8).
  static let most = 4

  /// As many as there are processors at work.
  static let available = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), most)
}

/// The SHA-256 of a key file as it lies there, by which a phone knows it again.
enum KeyFileDigest {
  private static let chunkBytes = 1 << 20

  /// Nil where the file cannot be read; the detection will say so.
  static func of(_ file: URL) -> Data? {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
    defer { try? handle.close() }
    var hash = SHA256()
    do {
      while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
        hash.update(data: chunk)
      }
    } catch {
      return nil
    }
    return Data(hash.finalize())
  }
}
