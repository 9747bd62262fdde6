import UploadToken

/// What the configuration, and not the database, says of apps and authorities.
struct ConfiguredRegister: Sendable {
  /// Its apps and authorities.
  let entries: RegisterEntries
  /// Who checks upload tokens, with the keys of their issuer.
  let tokens: UploadTokenVerifier
}
