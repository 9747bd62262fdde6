import ArgumentParser

/// The options that name a server which the bench does not start itself.
struct PublishTargetOptions: ParsableArguments {
  @Option(help: "The address of a server that speaks /v1/publish, such as http://127.0.0.1:8080.")
  var target: String?

  @Option(help: "The issuer (iss) that the server knows the certificates by.")
  var issuer: String?

  @Option(help: "The audience (aud) that the server wants in certificates.")
  var audience: String?

  @Option(name: .customLong("key-id"), help: "The id (kid) of the key that signs certificates.")
  var keyID: String?

  @Option(help: "The P-256 private key that signs certificates, in PEM.")
  var signingKey: String?

  @Option(help: "The application (healthAuthorityID) that uploads.")
  var application: String?

  func validate() throws {
    let others = [issuer, audience, keyID, signingKey, application]
    guard others.allSatisfy({ ($0 == nil) == (target == nil) }) else {
      throw ValidationError(
        "--target, --issuer, --audience, --key-id, --signing-key and --application go together.")
    }
  }

  /// The server; nil where none is named.
  func publishTarget() throws -> PublishTarget? {
    guard let target, let issuer, let audience, let keyID, let signingKey, let application else {
      return nil
    }
    return try PublishTarget(
      url: target, issuer: issuer, audience: audience, keyID: keyID,
      signingKeyPEM: try InputFile(signingKey, what: "signing key").text, application: application)
  }
}
