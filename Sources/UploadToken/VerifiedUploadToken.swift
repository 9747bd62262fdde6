/// A token whose signature, issuer, audience and time hold. Only `UploadTokenVerifier` makes one.
public struct VerifiedUploadToken: Sendable {
  /// What it grants. Whether it has been used is for the key database to say.
  public let grant: UploadGrant

  init(_ grant: UploadGrant) {
    self.grant = grant
  }
}

extension VerifiedUploadToken: CustomStringConvertible, CustomReflectable {
  public var description: String { "VerifiedUploadToken" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
