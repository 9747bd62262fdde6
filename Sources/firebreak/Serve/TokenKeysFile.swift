import Foundation

/// `token-keys.json`: the public keys of upload tokens, PEM by id, which is all that the key server needs of the
/// verification server. Documentation/Serving.md 2 and 4.
struct TokenKeysFile {
  let url: URL

  /// Lays down the public halves of `keys` that have not ended at `now`, where the file says anything else.
  ///
  /// - Throws: `CommandFailure` where it cannot be written.
  func write(_ keys: [SecretSigningKey], at now: Date) throws {
    let good = keys.filter { $0.validThru ?? .max > Int64(now.timeIntervalSince1970) }
    let texts = Dictionary(good.map { ($0.keyID, $0.publicKeyPEM) }, uniquingKeysWith: { $1 })
    // A file without a key would have the key server believe its copy is damaged.
    guard !texts.isEmpty, (try? known()) != texts else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      try encoder.encode(texts).write(to: url, options: .atomic)
    } catch {
      throw CommandFailure(
        status: .machineFailed, sentence: "\(url.path) could not be written: check the disk.")
    }
  }

  /// The keys in PEM, by id.
  ///
  /// - Throws: `CommandFailure` where there are none.
  func read() throws -> [String: String] {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path) is missing: start the verification server first, or copy the file from its"
          + " folder.")
    }
    // Without a key the server would run and refuse every phone.
    guard let keys = try? known(), !keys.isEmpty else {
      throw CommandFailure.badInput(
        "\(url.path) holds no public keys by id: copy it again from the verification server's"
          + " folder.")
    }
    return keys
  }

  private func known() throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(contentsOf: url))
  }
}
