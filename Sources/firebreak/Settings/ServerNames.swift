/// The names by which the servers know each other, unless others are set.
enum ServerNames {
  /// Claim `iss` of what the verification server signs.
  static let issuer = "verification.firebreak.example"
  /// Claim `aud`: the key server that it is for.
  static let audience = "keys.firebreak.example"
}
