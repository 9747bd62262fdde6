/// Signing keys as commands show them: never the private half.
struct SigningKeyReport: Encodable {
  private struct Key: Encodable {
    let keyID: String
    let keyVersion: String?
    let validFrom: Int64?
    let validThru: Int64?
    let publicKey: String
  }

  private let keys: [Key]

  init(_ keys: [SecretSigningKey]) {
    self.keys = keys.map {
      Key(
        keyID: $0.keyID, keyVersion: $0.keyVersion, validFrom: $0.validFrom,
        validThru: $0.validThru, publicKey: $0.publicKeyPEM)
    }
  }

  func print(asJSON: Bool) throws {
    guard !asJSON else { return try printJSON(self) }
    for key in keys {
      let from = key.validFrom.map { "from \($0)" } ?? "from the beginning"
      let thru = key.validThru.map { " until \($0)" } ?? ""
      try StandardOutput.write(
        "\(key.keyID) \(key.keyVersion ?? "") \(from)\(thru)\n\(key.publicKey)")
    }
  }
}
