/// A key file whose signature holds. Only `UnverifiedKeyFile.verified` makes one.
public struct VerifiedKeyFile: Sendable {
  /// What the file holds.
  public let facts: KeyFileFacts
  /// The key whose signature holds.
  public let signer: VerificationPublicKey

  /// What the file says about itself.
  public var header: KeyFileHeader { facts.header }
}
