import ArgumentParser
import DiagnosisKeyFile
import Foundation
import Terminal

/// `firebreak keyfile`: inspects, verifies and makes diagnosis key files.
struct KeyfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyfile",
    abstract: "Inspect, verify and make diagnosis key files.",
    subcommands: [InspectCommand.self, VerifyCommand.self, MakeCommand.self])
}

/// `keyfile inspect`: shows the content of a key file without verifying it.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the period, region, counts and signatures of a key file.",
    discussion: "Nothing is verified; use `firebreak keyfile verify` for that.")

  @Argument(help: "A zip, or an export.bin with its export.sig in the same folder.")
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let facts = try UnverifiedKeyFile(at: url).inspect()
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(KeyFileTable(name: url.lastPathComponent, facts: facts).text)
      try StandardOutput.write(
        "Not verified. To verify: firebreak keyfile verify --public-key PEM \(file)")
    }
  }
}

/// `keyfile verify`: verifies the signature of a key file.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verify the signature of a key file.",
    discussion:
      "Exit code 0: valid; 1: unsigned, or not signed by this key; 2: not a key file or not a PEM."
  )

  @Argument(help: "A zip, or an export.bin with its export.sig in the same folder.")
  var file: String

  @Option(help: "The P-256 public key of the authority, in PEM.")
  var publicKey: String

  @Option(name: .customLong("key-id"), help: "Accept only a signature with this key ID.")
  var keyID: String?

  @Option(help: "Accept only a signature with this key version.")
  var keyVersion: String?

  func run() throws {
    let pem = try InputFile(publicKey, what: "public key").text
    let file = UnverifiedKeyFile(at: URL(fileURLWithPath: file))
    // Without --key-id and --key-version, any ID and version of the file is accepted, but only this key.
    let keys = try file.signatures().map { info in
      try VerificationPublicKey(
        keyID: keyID ?? info.verificationKeyID,
        keyVersion: keyVersion ?? info.verificationKeyVersion, publicKeyPEM: pem)
    }
    // An invalid PEM is bad input even if the file is unsigned.
    _ = try VerificationPublicKey(keyID: "", keyVersion: "", publicKeyPEM: pem)
    let verified = try file.verified(by: keys, batchSize: Self.batchSize) { _ in }
    let signer = verified.signer
    try StandardOutput.write(
      "Valid: \(verified.facts.keyCount) keys, signed by key \(signer.keyID.printable), "
        + "version \(signer.keyVersion.printable).")
  }

  private static let batchSize = 1024
}

extension KeyFileError {
  /// An invalid signature is the answer "no"; an invalid file is bad input.
  var exitStatus: ExitStatus {
    switch self {
    case .unsigned, .noSignatureByTheseKeys, .unsupportedAlgorithm, .signatureMismatch: .no
    case .diskFull: .machineFailed
    case .cannotRead(let code), .cannotWrite(let code):
      Self.mistakenPaths.contains(code) ? .badInput : .machineFailed
    default: .badInput
    }
  }

  /// Errors of a mistyped or forbidden path.
  private static let mistakenPaths = [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG]
}
