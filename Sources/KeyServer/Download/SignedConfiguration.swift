import Foundation
import KeyServerAPI
import Synchronization
import World

/// The remote configuration as it is served, signed by the newest key that signs key files now.
final class SignedConfiguration: Sendable {
  private let configuration: RemoteConfiguration
  private let signers: ExportSigners
  private let clock: any WallClock
  private let latest: Mutex<Signed?>

  private struct Signed {
    let keyID: String
    let keyVersion: String
    let data: Data
  }

  /// Signs it once, so that a server does not start with one that it cannot serve.
  ///
  /// - Throws: `KeyServerError.configuration`.
  init(
    _ configuration: RemoteConfiguration, signers: ExportSigners, clock: any WallClock
  ) throws(KeyServerError) {
    self.configuration = configuration
    self.signers = signers
    self.clock = clock
    latest = Mutex(nil)
    _ = try data()
  }

  /// The document; the same until another key signs.
  func data() throws(KeyServerError) -> Data {
    guard let signer = try signers.valid(at: clock.now).first else {
      throw .configuration("exportSigners must not be empty.")
    }
    let known = latest.withLock { $0 }
    if let known, known.keyID == signer.keyID, known.keyVersion == signer.keyVersion {
      return known.data
    }
    do {
      let data = try UnverifiedRemoteConfiguration.signed(
        configuration, privateKeyPEM: signer.privateKeyPEM, keyID: signer.keyID,
        keyVersion: signer.keyVersion
      ).encoded()
      latest.withLock {
        $0 = Signed(keyID: signer.keyID, keyVersion: signer.keyVersion, data: data)
      }
      return data
    } catch {
      throw .configuration("remoteConfiguration: \(error)")
    }
  }
}
