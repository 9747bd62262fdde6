import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import World

/// The framework's matcher as the bench drives it: the one place that knows its interface.
struct MatcherUnderMeasurement {
  private let matcher: Matcher
  private var threads: Int

  /// Ready to match against `sightings`.
  init(against sightings: [ScannedSighting], threads: Int, tier: MatchTier) {
    let index = ContactIndex(sightings, secret: ProbeSecret(from: SystemRandomness()))
    matcher = Matcher(index, tier: tier)
    self.threads = threads
  }

  /// The same on another number of threads, with its filters as they are.
  func on(threads: Int) -> Self {
    var other = self
    other.threads = threads
    return other
  }

  /// Matches all of `input`.
  func match(_ input: MatchInput) throws -> MatchFindings {
    var search = KeySearch(matcher, threads: threads)
    var matches = RawMatches()
    var findings = MatchFindings()
    switch input {
    case .memory(let batches):
      try search.run(into: &matches) { each in
        for batch in batches { try each(ProvisionalKeyBatch(keys: batch)) }
      }
      findings.keysRead = batches.reduce(0) { $0 + $1.count }
    case .exports(let files):
      for file in files {
        findings.keysRead += try search.run(into: &matches) { each in
          try UnverifiedKeyFile(at: file).scannedKeys(
            batchSize: MatchLimit.keysPerBatch, each: each)
        }
      }
    case .zips(let files, let key):
      for file in files {
        let verified = try search.run(into: &matches) { each in
          try UnverifiedKeyFile(at: file).verified(
            by: [key], batchSize: MatchLimit.keysPerBatch, each: each)
        }
        findings.keysRead += verified.facts.keyCount
      }
    }
    findings.keysSkipped = search.counters.keysSkipped
    findings.count = matches.sightingCount
    findings.found = Set(matches.inOrder.map(MatchFindings.Found.init))
    return findings
  }
}

extension MatchFindings.Found {
  init(_ match: RawMatch) {
    self.init(
      key: match.key.secretBytes.lowerCaseHex, interval: match.sighting.sentIn.rawValue,
      second: Int(match.sighting.time.timeIntervalSince1970))
  }
}
