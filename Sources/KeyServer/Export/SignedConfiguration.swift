// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import ServerStorage
import Synchronization
import World

/// The remote configuration, signed by the newest valid key that signs key files.
///
/// A key in memory signs when the document is requested. One on a token signs in `refresh()`, so that no request and
/// no start of a server waits for a token.
final class SignedConfiguration: Sendable {
  private let state: Mutex<State>
  private let signers: ExportSigners
  private let calls: SignerCalls
  private let clock: any WallClock

  private struct State {
    var configuration: RemoteConfiguration
    /// Nil if the key has not signed yet.
    var signed: Signed?
  }

  private struct Signed {
    let keyID: String
    let keyVersion: String
    let data: Data

    func isBy(_ signer: ExportSigner) -> Bool {
      keyID == signer.keyID && keyVersion == signer.keyVersion
    }
  }

  /// Signs the configuration with a key in memory.
  ///
  /// - Throws: `KeyServerError.configuration` if it is not valid, or there is no key.
  init(
    _ configuration: RemoteConfiguration, signers: ExportSigners, calls: SignerCalls,
    clock: any WallClock
  ) throws(KeyServerError) {
    (self.signers, self.calls, self.clock) = (signers, calls, clock)
    if let fault = configuration.fault {
      throw .configuration("remoteConfiguration: \(RemoteConfigurationError.invalid(fault))")
    }
    let signer = try Self.newest(of: signers.valid(at: clock.now))
    let signed = try signer.key().mayBlock ? nil : Self.signed(configuration, by: signer)
    state = Mutex(State(configuration: configuration, signed: signed))
  }

  /// The version of the served configuration.
  var version: Int { state.withLock { $0.configuration.version } }

  /// Replaces the served configuration, unless the new one cannot be signed or stored.
  ///
  /// - Parameter store: Stores the configuration; it is called when the configuration has been signed.
  /// - Throws: `KeyServerError.configuration` or `.cannotSign`, or the error of `store`.
  func replace(_ new: RemoteConfiguration, storing store: () async throws -> Void)
    async throws
  {
    let signed = try await signed(new, by: Self.newest(of: signers.valid(at: clock.now)))
    try await store()
    state.withLock { state in
      // A newer one may have been stored meanwhile.
      guard new.version > state.configuration.version else { return }
      state = State(configuration: new, signed: signed)
    }
  }

  /// The document, signed by the newest key. Until a newest key on a token has signed, it is the document of an earlier
  /// key that is still valid.
  ///
  /// - Returns: Nil if no valid key has signed yet; `ServerHealth` reports the cause.
  /// - Throws: `KeyServerError.configuration` if there is no key.
  func data() throws(KeyServerError) -> Data? {
    let valid = try signers.valid(at: clock.now)
    let newest = try Self.newest(of: valid)
    let state = state.withLock { $0 }
    if let signed = state.signed, signed.isBy(newest) { return signed.data }
    guard try newest.key().mayBlock else {
      return keep(try Self.signed(state.configuration, by: newest), of: state.configuration).data
    }
    guard let signed = state.signed, valid.contains(where: signed.isBy) else { return nil }
    return signed.data
  }

  /// Lets a newest key on a token sign, if it has not.
  ///
  /// - Throws: `KeyServerError.cannotSign` if it cannot, `.configuration` as `data()`, or `CancellationError`.
  func refresh() async throws {
    let newest = try Self.newest(of: signers.valid(at: clock.now))
    let state = state.withLock { $0 }
    guard state.signed?.isBy(newest) != true, try newest.key().mayBlock else { return }
    keep(try await signed(state.configuration, by: newest), of: state.configuration)
  }

  /// Stores a signed document, unless the configuration was replaced meanwhile.
  @discardableResult
  private func keep(_ signed: Signed, of configuration: RemoteConfiguration) -> Signed {
    state.withLock { state in
      if state.configuration == configuration { state.signed = signed }
    }
    return signed
  }

  private static func newest(of valid: [ExportSigner]) throws(KeyServerError) -> ExportSigner {
    guard let signer = valid.first else {
      throw .configuration("exportSigners must not be empty.")
    }
    return signer
  }

  private func signed(
    _ configuration: RemoteConfiguration, by signer: ExportSigner
  ) async throws -> Signed {
    guard try signer.key().mayBlock else { return try Self.signed(configuration, by: signer) }
    return try await calls.run { Result { try Self.signed(configuration, by: signer) } }.get()
  }

  private static func signed(
    _ configuration: RemoteConfiguration, by signer: ExportSigner
  ) throws(KeyServerError) -> Signed {
    let key = try signer.key()
    do {
      let data = try UnverifiedRemoteConfiguration.signed(
        configuration, by: key, keyID: signer.keyID, keyVersion: signer.keyVersion
      ).encoded()
      return Signed(keyID: signer.keyID, keyVersion: signer.keyVersion, data: data)
    } catch let error as RemoteConfigurationError {
      throw .configuration("remoteConfiguration: \(error)")
    } catch {
      throw .cannotSign("\(error)")
    }
  }
}
