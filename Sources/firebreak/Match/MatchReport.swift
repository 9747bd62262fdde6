import DiagnosisKeyFile
import ExposureNotification

/// What `firebreak match` found, as `--json` prints it. Documentation/CommandLine.md 3.3.
struct MatchReport: Encodable {
  /// Keys and revised keys of all files, usable or not.
  private(set) var keysRead = 0
  /// Those of them that no phone can have had.
  private(set) var keysSkipped = 0
  /// Different keys.
  private(set) var keysMatched = 0
  /// Different identifiers.
  private(set) var identifiersMatched = 0
  /// Rows of the CSV.
  private(set) var sightingsMatched = 0
  /// From opening the first file to the last match, on one thread.
  private(set) var nanosecondsPerKey = 0.0
  /// One a row, by time, then key.
  private(set) var matches: [MatchRow] = []

  mutating func add(_ facts: KeyFileFacts) {
    keysRead += facts.keyCount + facts.revisedKeyCount
    keysSkipped += facts.keysSkipped
  }

  mutating func add(_ found: RawMatches, time: Duration) {
    keysMatched = found.keyCount
    identifiersMatched = found.identifierCount
    sightingsMatched = found.sightingCount
    matches = found.inOrder.map(MatchRow.init)
    let nanoseconds = time / .nanoseconds(1)
    nanosecondsPerKey = keysRead == 0 ? 0 : (nanoseconds / Double(keysRead) * 10).rounded() / 10
  }

  /// The same for people to read.
  var text: String {
    let counts =
      "\(keysRead) keys read, \(keysMatched) matched: \(identifiersMatched) identifiers, "
      + "\(sightingsMatched) sightings, \(Int(nanosecondsPerKey)) ns a key."
    guard !matches.isEmpty else { return counts }
    return ([counts, MatchRow.header] + matches.map(\.text)).joined(separator: "\n")
  }
}
