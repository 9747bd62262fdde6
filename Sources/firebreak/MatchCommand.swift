// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal
import TextEncodings
import World

/// `firebreak match`: matches key files against sightings; the only rule is the time tolerance.
struct MatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Match key files against sightings: raw matches without replay rule and retention.",
    discussion: """
      The CSV has the header \(SightingsCSV.header): 16 bytes and 4 bytes in hex, Unix seconds, \
      dBm. A sighting matches up to two hours before or after the interval of its identifier. With \
      --public-key every file must be signed by this key; without it, every file must have a signature; \
      with --unsigned signatures are ignored. Exit code 1: a file does not have the required signature.
      """)

  @OptionGroup var input: MatchInput

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let trust = try input.trust()
    let sightings = try SightingsCSV(at: input.sightings).sightings
    var report = MatchReport()
    let secret = ProbeSecret(from: SystemRandomness())
    let matcher = Matcher(ContactIndex(sightings, secret: secret))
    var search = KeySearch(matcher)
    var matches = RawMatches()
    let time = try ContinuousClock().measure {
      for file in input.files {
        report.add(
          try search.run(into: &matches) { each in
            try trust.read(file, batchSize: matcher.keysPerBatch, each: each)
          })
      }
    }
    report.add(matches, time: time)
    trust.noteIfNotVerified()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

/// The input of commands that match key files against sightings.
struct MatchInput: ParsableArguments {
  @Option(help: "The sightings, a CSV file.")
  var sightings: String

  @Option(help: "The P-256 public key of the authority, in PEM or DER.")
  var publicKey: String?

  @Flag(help: "Accept unsigned files.")
  var unsigned = false

  @Argument(help: "Key files: zip or export.bin; - is stdin.")
  var files: [String]

  func validate() throws {
    guard publicKey == nil || !unsigned else {
      throw ValidationError("Give either --public-key or --unsigned, not both.")
    }
    guard files.count(where: { $0 == KeyFileArgument.standardInput }) <= 1 else {
      throw ValidationError("Give - at most once: stdin is one file.")
    }
  }

  /// The signatures that the files must have.
  ///
  /// - Throws: `CommandFailure` if `publicKey` is not the file of a P-256 public key.
  func trust() throws -> SignatureRequirement {
    guard let publicKey else { return unsigned ? .noSignature : .anySigner }
    return .signer(
      publicKeyPEM: try P256KeyFile(publicKey, what: "public key").publicKeyPEM())
  }
}

/// The signatures that key files must have.
enum SignatureRequirement: Equatable {
  /// A signature of this public key, in PEM.
  case signer(publicKeyPEM: String)
  /// Any signature, not verified.
  case anySigner
  /// None; existing signatures are ignored.
  case noSignature

  /// Prints a note if there are signatures that are not verified.
  func noteIfNotVerified() {
    if self == .anySigner { note("The signatures were not verified: use --public-key.") }
  }

  static let batchSize = MatchLimit.keysPerBatch

  /// Passes the keys of `file` to `each`.
  ///
  /// - Throws: `CommandFailure` with the name of the file if it does not have the signature or is damaged.
  func read(
    _ file: String, batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileSummary {
    let argument = try KeyFileArgument(file)
    let facts = try argument.read { try read($0, batchSize, each: each) }
    argument.noteDeviations(facts)
    return facts
  }

  private func read(
    _ file: UnverifiedKeyFile, _ batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileSummary {
    switch self {
    case .noSignature:
      return try file.unverifiedKeys(batchSize: batchSize, each: each)
    case .anySigner:
      let facts = try file.unverifiedKeys(batchSize: batchSize, each: each)
      guard !facts.signatures.isEmpty else { throw KeyFileError.unsigned }
      return facts
    case .signer(let pem):
      return try file.verified(
        batchSize: batchSize,
        by: { infos in
          try infos.map {
            try VerificationPublicKey(
              keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion, publicKeyPEM: pem)
          }
        }, each: each
      ).facts
    }
  }
}

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
  /// In dB; `nil` if the radio did not measure the signal strength (127).
  @Nullable var attenuation: UInt8?

  init(_ match: RawMatch) {
    let sighting = match.sighting
    key = match.key.secretBytes.hexadecimal
    intervalNumber = sighting.sentIn.rawValue
    time = Int(sighting.time.unixSecond)
    rssi = sighting.scanned.sighting.signalStrength
    txPower = sighting.metadata.transmitPower
    version = "\(sighting.metadata.majorVersion).\(sighting.metadata.minorVersion)"
    attenuation =
      sighting.scanned.sighting.hasSignalStrength ? sighting.attenuation.decibels : nil
  }

  static let header = line("time", "key", "interval", "rssi", "tx", "attenuation")

  var text: String {
    let loss = attenuation.map { "\($0) dB" } ?? "unknown"
    return Self.line(
      UTCTime(unixSecond: Int64(time)).text, key, "\(intervalNumber)", "\(rssi)", "\(txPower)",
      loss)
  }

  /// The columns of a line, aligned to the right.
  private static func line(_ columns: String...) -> String {
    zip(columns, [23, 32, 10, 5, 4, 11]).map { text, width in
      String(repeating: " ", count: max(0, width - text.count)) + text
    }.joined(separator: "  ")
  }
}
