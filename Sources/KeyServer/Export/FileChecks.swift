// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import Synchronization
import World

/// The checks of key files: after writing with the signature, later with the stored hash.
///
/// The result of a successful check is cached until the file changes or `forget()` is called.
final class FileChecks: Sendable {
  /// A file that was found intact.
  private struct Known: Hashable {
    let version: FileVersion
    let sha256: Data
  }

  private let intact = Mutex<[URL: Known]>([:])

  /// Returns `true` if the content of `file` has the hash `sha256`.
  func isIntact(_ file: URL, sha256: Data) async -> Bool {
    guard let version = FileVersion(path: file.path) else { return false }
    let known = Known(version: version, sha256: sha256)
    if intact.withLock({ $0[file] }) == known { return true }
    guard await Self.hash(of: file) == sha256 else { return false }
    intact.withLock { $0[file] = known }
    return true
  }

  /// Verifies a file that was just written, as a phone does.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - name: The name that it will get, for the error.
  ///   - signers: The keys that signed it.
  ///   - count: The number of keys that were written, revised ones included.
  /// - Returns: The hash of the file.
  /// - Throws: `KeyServerError.damagedFile` if the signature or the number of keys is wrong.
  func verify(
    _ file: URL, as name: String, by signers: [KeyFileSigner], count: Int
  ) async throws -> Data {
    let (verified, hash) = await offThread {
      (Self.isVerified(file, signers, count), Self.sha256(file))
    }
    guard verified, let hash else { throw KeyServerError.damagedFile(name) }
    return hash
  }

  /// Caches that `file` was found intact.
  func note(_ file: URL, sha256: Data) {
    guard let version = FileVersion(path: file.path) else { return }
    intact.withLock { $0[file] = Known(version: version, sha256: sha256) }
  }

  /// Clears the cache, so that every file is read again.
  func forget() { intact.withLock { $0 = [:] } }

  private static func isVerified(_ file: URL, _ signers: [KeyFileSigner], _ count: Int) -> Bool {
    var read = 0
    do {
      let keys = try signers.map {
        try VerificationPublicKey(
          keyID: $0.info.verificationKeyID, keyVersion: $0.info.verificationKeyVersion,
          publicKeyPEM: $0.publicKeyPEM)
      }
      _ = try UnverifiedKeyFile(at: file).verified(
        by: keys, batchSize: KeyFileLimit.batchSizes.upperBound
      ) { read += $0.keys.count }
    } catch {
      return false
    }
    return read == count
  }

  private static func hash(of file: URL) async -> Data? { await offThread { sha256(file) } }

  private static func sha256(_ file: URL) -> Data? {
    var hash = SHA256()
    guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
    return Data(hash.finalize())
  }
}

/// Runs `work`, which blocks, on an additional thread. A global queue would share its threads with tasks.
private func offThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "offThread").async { continuation.resume(returning: work()) }
  }
}
