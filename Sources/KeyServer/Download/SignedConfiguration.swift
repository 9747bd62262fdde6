import Foundation
import KeyServerAPI
import Synchronization
import World

/// The remote configuration, signed by the newest valid key that signs key files.
final class SignedConfiguration: Sendable {
  private let state: Mutex<State>
  private let signers: ExportSigners
  private let clock: any WallClock

  private struct State {
    var configuration: RemoteConfiguration
    var signed: Signed
  }

  private struct Signed {
    let keyID: String
    let keyVersion: String
    let data: Data
  }

  /// Signs the configuration at once, so that a server with an invalid configuration does not start.
  ///
  /// - Throws: `KeyServerError.configuration` if it cannot be signed.
  init(
    _ configuration: RemoteConfiguration, signers: ExportSigners, clock: any WallClock
  ) throws(KeyServerError) {
    self.signers = signers
    self.clock = clock
    let signed = try Self.signed(configuration, by: Self.signer(of: signers, at: clock.now))
    state = Mutex(State(configuration: configuration, signed: signed))
  }

  /// Replaces the served configuration, unless the new one cannot be signed or stored.
  ///
  /// - Parameter store: Stores the configuration; it is called when the configuration has been signed.
  /// - Throws: `KeyServerError.configuration`, or the error of `store`.
  func replace(_ new: RemoteConfiguration, storing store: () throws -> Void) throws {
    let signed = try Self.signed(new, by: Self.signer(of: signers, at: clock.now))
    try store()
    state.withLock { $0 = State(configuration: new, signed: signed) }
  }

  /// Returns the signed document. It is signed again when another key becomes the newest.
  func data() throws(KeyServerError) -> Data {
    let signer = try Self.signer(of: signers, at: clock.now)
    return try state.withLock { state throws(KeyServerError) in
      if state.signed.keyID != signer.keyID || state.signed.keyVersion != signer.keyVersion {
        state.signed = try Self.signed(state.configuration, by: signer)
      }
      return state.signed.data
    }
  }

  private static func signer(
    of signers: ExportSigners, at now: Date
  ) throws(KeyServerError) -> ExportSigner {
    guard let signer = try signers.valid(at: now).first else {
      throw .configuration("exportSigners must not be empty.")
    }
    return signer
  }

  private static func signed(
    _ configuration: RemoteConfiguration, by signer: ExportSigner
  ) throws(KeyServerError) -> Signed {
    do {
      let data = try UnverifiedRemoteConfiguration.signed(
        configuration, privateKeyPEM: signer.privateKeyPEM, keyID: signer.keyID,
        keyVersion: signer.keyVersion
      ).encoded()
      return Signed(keyID: signer.keyID, keyVersion: signer.keyVersion, data: data)
    } catch {
      throw .configuration("remoteConfiguration: \(error)")
    }
  }
}
