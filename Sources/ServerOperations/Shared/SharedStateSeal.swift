// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import ServerStorage
import Terminal
import World

/// Encrypts the shared content of a server with a key that is derived from the secret of its folder, so that the
/// database, its log and its backups have no signing key.
struct SharedStateSeal: Redacted {
  private let key: SymmetricKey
  private let server: StoredServer
  private let randomness: any Randomness

  /// - Parameter secret: The secret that the server keeps from its first start.
  init(_ secret: Data, of server: StoredServer, randomness: any Randomness = SystemRandomness()) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret),
      info: Data("Firebreak shared state 1 \(server.name.rawValue)".utf8), outputByteCount: 32)
    self.server = server
    self.randomness = randomness
  }

  /// Encrypts `content`. The revision is authenticated, so that an earlier state cannot be stored as a later one.
  func sealed(_ content: SharedContent, revision: Int64) throws -> SharedState {
    let box = try AES.GCM.seal(
      Self.encoded(content), using: key, nonce: AES.GCM.Nonce(data: randomness.bytes(12)),
      authenticating: Self.context(revision))
    return SharedState(
      revision: revision, sealed: box.nonce.withUnsafeBytes { Data($0) } + box.ciphertext + box.tag)
  }

  /// Decrypts the content of `state`.
  ///
  /// - Throws: `CommandFailure` if it was changed, or is of a newer version of this program.
  func content(of state: SharedState) throws -> SharedContent {
    let encoded: Data
    do {
      encoded = try AES.GCM.open(
        AES.GCM.SealedBox(combined: state.sealed), using: key,
        authenticating: Self.context(state.revision))
    } catch {
      throw CommandFailure.badInput(
        "The shared state in the database \(server.postgreSQLName) is damaged: stop the servers, delete the"
          + " row of the table shared_state, and start first the process whose secrets are the newest."
      )
    }
    do {
      return try JSONDecoder().decode(SharedContent.self, from: encoded)
    } catch {
      throw CommandFailure.badInput(
        "The shared state in the database \(server.postgreSQLName) was written by a newer version of"
          + " firebreak: run that version.")
    }
  }

  /// A keyed hash of `content`, which tells nothing about it. The places of keys do not count.
  func digest(of content: SharedContent) throws -> Data {
    let encoded = try Self.encoded(content.withoutPlaces)
    return Data(HMAC<SHA256>.authenticationCode(for: encoded, using: key))
  }

  private static func encoded(_ content: SharedContent) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(content)
  }

  private static func context(_ revision: Int64) -> Data { Data("revision \(revision)".utf8) }
}
