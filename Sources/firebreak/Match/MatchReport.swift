import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal

/// The result of `firebreak match`, as `--json` prints it.
struct MatchReport: Encodable {
  /// Keys and revised keys of all files, including invalid ones.
  private(set) var keysRead = 0
  /// Invalid keys.
  private(set) var keysSkipped = 0
  /// Distinct keys.
  private(set) var keysMatched = 0
  /// Distinct identifiers.
  private(set) var identifiersMatched = 0
  /// Rows of the CSV.
  private(set) var sightingsMatched = 0
  /// From opening the first file to the last match, on one thread.
  private(set) var nanosecondsPerKey = 0.0
  /// One per matched row, sorted by time, then key.
  private(set) var matches: [MatchRow] = []

  mutating func add(_ facts: KeyFileSummary) {
    keysRead += facts.keyCount + facts.revisedKeyCount
    keysSkipped += facts.keysSkipped
  }

  mutating func add(_ raw: RawMatches, time: Duration) {
    keysMatched = raw.keyCount
    identifiersMatched = raw.identifierCount
    sightingsMatched = raw.sightingCount
    matches = raw.inOrder.map(MatchRow.init)
    let nanoseconds = time / .nanoseconds(1)
    nanosecondsPerKey = keysRead == 0 ? 0 : (nanoseconds / Double(keysRead) * 10).rounded() / 10
  }

  /// The result as text.
  var text: String {
    let counts =
      "\(keysRead) keys read, \(keysMatched) matched: \(identifiersMatched) identifiers, "
      + "\(sightingsMatched) sightings, \(Int(nanosecondsPerKey)) ns per key."
    guard !matches.isEmpty else { return counts }
    return ([counts, MatchRow.header] + matches.map(\.text)).joined(separator: "\n")
  }
}

/// A matched row of the CSV.
struct MatchRow: Encodable {
  /// In hex.
  let key: String
  /// The interval of the identifier, by the sender's clock.
  let intervalNumber: UInt32
  /// The time of the sighting, in Unix seconds.
  let time: Int
  /// In dBm.
  let rssi: Int8
  /// The transmit power in dBm from the metadata, plausible or not.
  let txPower: Int8
  /// The protocol version, major and minor.
  let version: String
  /// In dB.
  let attenuation: UInt8

  init(_ match: RawMatch) {
    let sighting = match.sighting
    key = match.key.secretBytes.lowerCaseHex
    intervalNumber = sighting.sentIn.rawValue
    time = Int(sighting.time.timeIntervalSince1970)
    rssi = sighting.scanned.sighting.signalStrength
    txPower = sighting.metadata.transmitPower
    version = "\(sighting.metadata.majorVersion).\(sighting.metadata.minorVersion)"
    attenuation = sighting.attenuation.decibels
  }

  static let header = line("time", "key", "interval", "rssi", "tx", "attenuation")

  var text: String {
    Self.line("\(time)", key, "\(intervalNumber)", "\(rssi)", "\(txPower)", "\(attenuation) dB")
  }

  /// The columns of a line, aligned to the right.
  private static func line(_ columns: String...) -> String {
    zip(columns, [11, 32, 10, 5, 4, 11]).map { text, width in
      String(repeating: " ", count: max(0, width - text.count)) + text
    }.joined(separator: "  ")
  }
}
