import Crypto
import DiagnosisKeyFile
import Foundation
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
  /// - Parameter count: The number of keys that were written, revised ones included.
  /// - Returns: The hash of the file.
  /// - Throws: `KeyServerError.damagedFile` if the signature or the number of keys is wrong.
  func verify(
    _ file: URL, by signers: [KeyFileSigner], count: Int
  ) async throws -> Data {
    let (verified, hash) = await offThread {
      (Self.isVerified(file, signers, count), Self.sha256(file))
    }
    guard verified, let hash, let version = FileVersion(path: file.path)
    else {
      throw KeyServerError.damagedFile(file.lastPathComponent)
    }
    intact.withLock { $0[file] = Known(version: version, sha256: hash) }
    return hash
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

/// Runs `work`, which blocks, on a thread of its own.
private func offThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: work()) }
  }
}
