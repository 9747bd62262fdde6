import ArgumentParser
import DiagnosisKeyFile
import ExposureNotification
import Foundation
import Terminal
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

  @Option(help: "The sightings, a CSV file.")
  var sightings: String

  @Option(help: "The P-256 public key of the authority, in PEM.")
  var publicKey: String?

  @Flag(help: "Accept unsigned files.")
  var unsigned = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Argument(help: "Key files: zip or export.bin.")
  var files: [String]

  func validate() throws {
    guard publicKey == nil || !unsigned else {
      throw ValidationError("Give either --public-key or --unsigned, not both.")
    }
  }

  func run() throws {
    let trust = try SignatureRequirement(publicKey: publicKey, acceptsUnsigned: unsigned)
    let sightings = try SightingsCSV(at: self.sightings).sightings
    var report = MatchReport()
    let secret = ProbeSecret(from: SystemRandomness())
    var search = KeySearch(Matcher(ContactIndex(sightings, secret: secret)))
    var matches = RawMatches()
    let time = try ContinuousClock().measure {
      for file in files {
        report.add(try search.run(into: &matches) { each in try trust.read(file, each: each) })
      }
    }
    report.add(matches, time: time)
    if trust == .anySigner {
      note("The signatures were not verified: use --public-key.")
    }
    try json ? printJSON(report) : StandardOutput.write(report.text)
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

  /// - Throws: `CommandFailure` if `publicKey` is not a valid PEM file.
  init(publicKey: String?, acceptsUnsigned: Bool) throws {
    guard let publicKey else {
      self = acceptsUnsigned ? .noSignature : .anySigner
      return
    }
    let pem = try InputFile(publicKey, what: "public key").text
    _ = try VerificationPublicKey(keyID: "", keyVersion: "", publicKeyPEM: pem)
    self = .signer(publicKeyPEM: pem)
  }

  static let batchSize = MatchLimit.keysPerBatch

  /// Passes the keys of `file` to `each`.
  ///
  /// - Throws: `CommandFailure` with the name of the file if it does not have the signature or is damaged.
  func read(
    _ file: String, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileSummary {
    do {
      return try read(UnverifiedKeyFile(at: URL(fileURLWithPath: file)), each: each)
    } catch let error as KeyFileError {
      throw CommandFailure(
        status: error.exitStatus, message: "\(file.printable): \(error.description)")
    }
  }

  private func read(
    _ file: UnverifiedKeyFile, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileSummary {
    switch self {
    case .noSignature:
      return try file.unverifiedKeys(batchSize: Self.batchSize, each: each)
    case .anySigner:
      let facts = try file.unverifiedKeys(batchSize: Self.batchSize, each: each)
      guard !facts.signatures.isEmpty else { throw KeyFileError.unsigned }
      return facts
    case .signer(let pem):
      let keys = try file.signatures().map {
        try VerificationPublicKey(
          keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion, publicKeyPEM: pem)
      }
      return try file.verified(by: keys, batchSize: Self.batchSize, each: each).facts
    }
  }
}
