// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServer
import KeyServerAPI
import Synchronization
import World

/// The signing keys of a simulated health authority, and the device configuration that its root key signs.
///
/// It follows the rules of `firebreak key-server signing-key rotate`.
public final class SimulatedSigning: Sendable {
  private struct State {
    var signers: [ExportSigner]
    var document: DeviceConfiguration
    /// The signed document; nil until it is served or published. Signed once, because signatures are random, and phones
    /// would take another one for a new version.
    var signed: Data?
  }

  private let root: RootPrivateKey
  private let clock: any WallClock
  private let randomness: any Randomness
  private let state: Mutex<State>

  /// The time in seconds for which an old key signs beside a new one: as long as key files are kept.
  public static let overlapSeconds = KeyServerLimit.retentionSeconds

  init(clock: any WallClock, randomness: any Randomness) throws {
    self.clock = clock
    self.randomness = randomness
    root = try RootPrivateKey(
      privateKeyPEM: P256.Signing.PrivateKey(from: randomness).pemRepresentation)
    let signer = Self.signer(version: 1, from: nil, randomness)
    state = Mutex(
      State(
        signers: [signer],
        document: .first(keys: [try signer.publicKey()], issued: clock.now)))
  }

  /// The public root key.
  public var rootKey: RootKey { root.rootKey }

  /// The keys that sign key files, now or later.
  public var signers: [ExportSigner] { state.withLock { $0.signers } }

  /// The device configuration.
  public var document: DeviceConfiguration { state.withLock { $0.document } }

  /// The device configuration as the key server serves it.
  ///
  /// - Throws: `DeviceConfigurationError` if it is not valid (a programming error).
  public func signedDocument() throws -> Data {
    try state.withLock { state in
      if let signed = state.signed { return signed }
      let signed = try UnverifiedDeviceConfiguration.signed(state.document, by: root).encoded()
      state.signed = signed
      return signed
    }
  }

  /// The public keys with which key files are verified.
  ///
  /// - Throws: `KeyFileError` if a key is not valid (a programming error).
  public func verificationKeys() throws -> [VerificationPublicKey] {
    try document.keys(validAt: clock.now).map {
      try VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
    }
  }

  /// Publishes a new key, which signs after `leadSeconds`, and ends the older ones after the overlap.
  ///
  /// - Throws: `KeyServerError` if a key is not valid (a programming error).
  public func rotate(
    leadSeconds: Int64 = DeviceConfigurationLimit.leadSeconds,
    overlapSeconds: TimeInterval = overlapSeconds
  ) throws {
    let from = clock.now.addingTimeInterval(Double(leadSeconds))
    let new = Self.signer(version: signers.count + 1, from: from, randomness)
    state.withLock { state in
      let ended = state.signers.map { $0.ending(at: from.addingTimeInterval(overlapSeconds)) }
      state.signers = ended + [new]
    }
    try publish()
  }

  /// Signs the device configuration again, which renews its validity, with the present keys and a change such as a
  /// pause.
  ///
  /// - Parameter change: Changes the document; it must not use this object.
  /// - Throws: `DeviceConfigurationError` if the changed document is not valid; the earlier one stays. `KeyServerError`
  ///   if a key is not valid (a programming error).
  public func publish(_ change: (inout DeviceConfiguration) -> Void = { _ in }) throws {
    let now = clock.now
    try state.withLock { state in
      let keys = try state.signers.filter { $0.validThru ?? .distantFuture > now }
        .map { try $0.publicKey() }
      var document = state.document.next(keys: keys, issued: now)
      change(&document)
      state.signed = try UnverifiedDeviceConfiguration.signed(document, by: root).encoded()
      state.document = document
    }
  }

  private static func signer(
    version: Int, from: Date?, _ randomness: any Randomness
  ) -> ExportSigner {
    ExportSigner(
      privateKeyPEM: P256.Signing.PrivateKey(from: randomness).pemRepresentation,
      keyID: SimulatedHealthAuthority.Name.exportKeyID, keyVersion: "v\(version)", validFrom: from)
  }
}
