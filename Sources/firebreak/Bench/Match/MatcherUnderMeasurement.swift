import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation

/// The framework's matcher as the bench drives it: the one place that knows its interface.
struct MatcherUnderMeasurement {
  private let matcher: Matcher

  /// Ready to match against `sightings`.
  init(against sightings: some Sequence<Sighting>, threads: Int, tier: KernelTier) {
    matcher = Matcher(ContactIndex(sightings.map { ScannedSighting($0) }))
  }

  /// Matches all of `input`.
  func match(_ input: MatchInput) throws -> MatchFindings {
    var matches = RawMatches(matcher)
    var findings = MatchFindings()
    switch input {
    case .memory(let keys):
      matches.search(keys)
      findings.keysRead = keys.count
    case .exports(let files):
      for file in files {
        let facts = try UnverifiedKeyFile(at: file).unverifiedKeys(batchSize: Self.batchSize) {
          matches.search($0.keys)
        }
        findings.keysRead += facts.keyCount
      }
    case .zips(let files, let key):
      for file in files {
        let verified = try UnverifiedKeyFile(at: file).verified(
          by: [key], batchSize: Self.batchSize
        ) { matches.search($0.keys) }
        findings.keysRead += verified.facts.keyCount
      }
    }
    findings.count = matches.sightingCount
    findings.found = Set(matches.inOrder.map(MatchFindings.Found.init))
    return findings
  }

  private static let batchSize = 4096
}

extension MatchFindings.Found {
  init(_ match: RawMatch) {
    self.init(
      key: match.key.secretBytes.lowerCaseHex, interval: match.sighting.sentIn.rawValue,
      second: Int(match.sighting.time.timeIntervalSince1970))
  }
}
