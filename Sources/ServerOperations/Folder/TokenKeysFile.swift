// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Settings
import Terminal
import World

/// `token-keys.json`: the public keys of upload tokens, PEM by id. The key server needs no other file of the
/// verification server.
struct TokenKeysFile {
  let url: URL

  /// Writes the public keys of `keys` that are valid at or after `now`, if the file has other content.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  func write(_ keys: [SecretSigningKey], at now: Date) throws {
    let valid = keys.filter { $0.validThru ?? .max > now.unixSecond }
    try write(Dictionary(valid.map { ($0.keyID, $0.publicKeyPEM) }, uniquingKeysWith: { $1 }))
  }

  /// Writes the public keys `texts`, in PEM by id, if the file has other content.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  func write(_ texts: [String: String]) throws {
    // The key server treats a file without a key as damaged. A file that cannot be read is replaced.
    guard !texts.isEmpty, (try? decoded()) != texts else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      try AtomicFile.write(try encoder.encode(texts), to: url, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path) could not be written: check the disk.")
    }
  }

  /// The keys in PEM, by id.
  ///
  /// - Throws: `CommandFailure` if there are none.
  func read() throws -> [String: String] {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path) is missing: start the verification server first, or copy the file from its"
          + " folder.")
    }
    // Without a key the server would reject every upload. Damaged text has none.
    guard let keys = try? decoded(), !keys.isEmpty else {
      throw CommandFailure.badInput(
        "\(url.path) contains no public keys: copy it again from the verification server's"
          + " folder.")
    }
    for (id, pem) in keys.sorted(by: { $0.key < $1.key }) {
      // Text that is not a key is the fault that is reported.
      guard (try? P256.Signing.PublicKey(pemRepresentation: pem)) == nil else { continue }
      throw CommandFailure.badInput(
        "\(url.path.printable): the key \(id.printable) is not a P-256 public key: copy the file again from"
          + " the verification server's folder.")
    }
    return keys
  }

  private func decoded() throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(contentsOf: url))
  }
}

extension ServerFolder {
  var tokenPublicKeys: TokenKeysFile {
    TokenKeysFile(url: url.appendingPathComponent("token-keys.json"))
  }
}
