import Crypto
import DiagnosisKeyFile
import Foundation
import Synchronization
import World

/// The checks of key files: after writing with the signature, later with the stored hash.
///
/// A file that was found intact is read again when it changes, or after `forget()`.
final class FileChecks: Sendable {
  /// A file that was found intact.
  private struct Known: Hashable {
    let identity: Identity
    let sha256: Data
  }

  /// The file as the file system describes it.
  private struct Identity: Hashable {
    let number: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    /// nil if there is no file.
    init?(_ file: URL) {
      var facts = stat()
      guard stat(file.path, &facts) == 0 else { return nil }
      number = UInt64(facts.st_ino)
      size = Int64(facts.st_size)
      (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
    }
  }

  private let intact = Mutex<[URL: Known]>([:])

  /// Returns `true` if the content of `file` has the hash `sha256`.
  func isIntact(_ file: URL, sha256: Data) async -> Bool {
    guard let identity = Identity(file) else { return false }
    let known = Known(identity: identity, sha256: sha256)
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
    guard verified, let hash, let identity = Identity(file) else {
      throw KeyServerError.damagedFile(file.lastPathComponent)
    }
    intact.withLock { $0[file] = Known(identity: identity, sha256: hash) }
    return hash
  }

  /// Lets each file be read again.
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
