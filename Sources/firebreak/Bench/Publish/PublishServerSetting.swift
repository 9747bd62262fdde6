/// What the bench tells the server that it starts, in one line on its stdin.
///
/// The end of stdin then is the end of the server: it never outlives the bench.
struct PublishServerSetting: Codable {
  static let issuer = "bench.firebreak.example"
  static let audience = "keys.firebreak.example"
  static let keyID = "bench-1"
  static let application = "example.firebreak.bench"
  static let region = "PL"

  /// The folder for its database and its key files.
  let folder: String
  /// The public half of the key that signs certificates.
  let certificateKeyPEM: String
}
