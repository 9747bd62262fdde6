// SPDX-License-Identifier: Apache-2.0

/// Values that replace those of the settings files, such as options of the command line.
package struct SettingOverrides: Sendable {
  /// The region of the key server.
  package var region: String?
  /// The app that may upload.
  package var app: String?
  /// The issuer of the verification server's tokens.
  package var issuer: String?
  /// The audience of the tokens.
  package var audience: String?
  /// The id of the first key that signs key files.
  package var keyID: String?
  /// The address of the object store of the key files.
  package var files: String?

  package init(
    region: String? = nil, app: String? = nil, issuer: String? = nil, audience: String? = nil,
    keyID: String? = nil, files: String? = nil
  ) {
    self.region = region
    self.app = app
    self.issuer = issuer
    self.audience = audience
    self.keyID = keyID
    self.files = files
  }
}

/// The default names by which the servers know each other.
enum ServerNames {
  /// Claim `iss` of the verification server's tokens.
  static let issuer = "verification.firebreak.example"
  /// Claim `aud`: the key server.
  static let audience = "keys.firebreak.example"
}
