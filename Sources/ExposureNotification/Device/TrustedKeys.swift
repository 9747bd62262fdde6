import DiagnosisKeyFile
import Foundation
import SealedStorage
import Synchronization
import World

// The trust in key files, which the health authority may change.
extension Device {
  /// The region and the keys that are trusted now.
  var region: RegionConfiguration { currentRegion.withLock { $0 } }

  /// Replaces the keys of the region's authority. From the next detection on, a key file must be signed by
  /// one of `keys`. They are not stored: a program sets them again after each start.
  ///
  /// - Throws: `RegionConfigurationError` if there are more than ten keys, or one is not a P-256 public key
  ///   in PEM; then nothing changes.
  public func setTrustedKeys(
    _ keys: [(keyID: String, keyVersion: String, publicKeyPEM: String)]
  ) throws(RegionConfigurationError) {
    guard keys.count <= StoredRegion.keysMax else { throw .tooLarge }
    var trusted: [VerificationPublicKey] = []
    for key in keys {
      do throws(KeyFileError) {
        trusted.append(
          try VerificationPublicKey(
            keyID: key.keyID, keyVersion: key.keyVersion, publicKeyPEM: key.publicKeyPEM))
      } catch {
        throw .notAPublicKey(version: key.keyVersion)
      }
    }
    currentRegion.withLock { $0 = RegionConfiguration(region: $0.region, keys: trusted) }
  }

  /// Forgets the keys that earlier detections of API version 2 found in no other files than these, and the
  /// last result. The next detection then reports no exposure to those keys.
  ///
  /// - Parameter digests: The SHA-256 digests of the withdrawn files.
  /// - Throws: `ENError` if the disk fails; call it again then.
  public func withdraw(digests: Set<Data>) async throws {
    try await detectionMutex.withLock {
      do {
        let now = self.clock.now
        try await self.detectionStore.withdraw(
          digests, keeping: self.retention.period(at: now), at: now)
      } catch let error as SealedStorageError {
        throw ENError(error)
      }
    }
  }
}
