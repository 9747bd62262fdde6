import ArgumentParser
import DiagnosisKeyFile
import Foundation

/// Says whether a key file is signed by a given key.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a key file's signature.",
    discussion: "Exit code 0: valid; 1: unsigned, or not signed by this key; 2: no key file or PEM."
  )

  @Argument(help: "A zip, or an export.bin with its export.sig beside it.")
  var file: String

  @Option(help: "The authority's P-256 public key, in PEM.")
  var publicKey: String

  @Option(name: .customLong("key-id"), help: "Only a signature with this key id counts.")
  var keyID: String?

  @Option(help: "Only a signature with this key version counts.")
  var keyVersion: String?

  func run() throws {
    let pem = try InputFile(publicKey, what: "public key").text
    let file = UnverifiedKeyFile(at: URL(fileURLWithPath: file))
    // What was not asked for is taken from the file: any name will do then, but only this key.
    let keys = try file.signatures().map { info in
      try VerificationPublicKey(
        keyID: keyID ?? info.verificationKeyID,
        keyVersion: keyVersion ?? info.verificationKeyVersion, publicKeyPEM: pem)
    }
    // A PEM that is none is bad input, even where nothing is signed.
    _ = try VerificationPublicKey(keyID: "", keyVersion: "", publicKeyPEM: pem)
    let verified = try file.verified(by: keys, batchSize: Self.batchSize) { _ in }
    let signer = verified.signer
    try StandardOutput.write(
      "Valid: \(verified.facts.keyCount) keys, signed by key \(signer.keyID.printable), "
        + "version \(signer.keyVersion.printable).")
  }

  private static let batchSize = 1024
}
