import Foundation
import KeyServerAPI
import Synchronization
import World

/// The remote configuration, signed by the newest valid key that signs key files.
final class SignedConfiguration: Sendable {
  private let configuration: Mutex<RemoteConfiguration>
  private let signers: ExportSigners
  private let clock: any WallClock
  private let cached: Mutex<Signed?>

  private struct Signed {
    let keyID: String
    let keyVersion: String
    let data: Data
  }

  /// Signs the configuration once, so that a server with an invalid one does not start.
  ///
  /// - Throws: `KeyServerError.configuration` if it cannot be signed.
  init(
    _ configuration: RemoteConfiguration, signers: ExportSigners, clock: any WallClock
  ) throws(KeyServerError) {
    self.configuration = Mutex(configuration)
    self.signers = signers
    self.clock = clock
    cached = Mutex(nil)
    _ = try data()
  }

  /// Serves another configuration from now on. One that cannot be signed changes nothing.
  ///
  /// - Throws: `KeyServerError.configuration`.
  func replace(_ new: RemoteConfiguration) throws(KeyServerError) {
    let old = configuration.withLock { current in
      defer { current = new }
      return current
    }
    cached.withLock { $0 = nil }
    do throws(KeyServerError) { _ = try data() } catch {
      configuration.withLock { $0 = old }
      throw error
    }
  }

  /// Returns the signed document; it is cached until another key signs.
  func data() throws(KeyServerError) -> Data {
    guard let signer = try signers.valid(at: clock.now).first else {
      throw .configuration("exportSigners must not be empty.")
    }
    let current = cached.withLock { $0 }
    if let current, current.keyID == signer.keyID, current.keyVersion == signer.keyVersion {
      return current.data
    }
    do {
      let data = try UnverifiedRemoteConfiguration.signed(
        configuration.withLock { $0 }, privateKeyPEM: signer.privateKeyPEM, keyID: signer.keyID,
        keyVersion: signer.keyVersion
      ).encoded()
      cached.withLock {
        $0 = Signed(keyID: signer.keyID, keyVersion: signer.keyVersion, data: data)
      }
      return data
    } catch {
      throw .configuration("remoteConfiguration: \(error)")
    }
  }
}
