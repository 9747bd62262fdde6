// SPDX-License-Identifier: Apache-2.0

/// The default names by which the servers know each other.
enum ServerNames {
  /// Claim `iss` of the verification server's tokens.
  static let issuer = "verification.firebreak.example"
  /// Claim `aud`: the key server.
  static let audience = "keys.firebreak.example"
}
