// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import Secrets
import Synchronization
import World

/// The keys that sign key files, read before every export so that they can be changed while the server runs.
///
/// With a device configuration, a key signs only while that document lists it as valid: phones reject the
/// signatures of all others.
struct ExportSigners: Sendable {
  private let read: @Sendable () throws -> [ExportSigner]
  private let published: (@Sendable () throws -> DeviceConfiguration)?

  init(
    _ read: @escaping @Sendable () throws -> [ExportSigner],
    published: (@Sendable () throws -> DeviceConfiguration)? = nil
  ) {
    self.read = read
    self.published = published
  }

  /// Returns the signers that are valid at `moment`, the newest first; 1 to 10, as many as phones accept.
  ///
  /// - Throws: `KeyServerError.configuration` if there is none, there are too many, or a private key is invalid.
  func keyFileSigners(at moment: Date) throws(KeyServerError) -> [KeyFileSigner] {
    do {
      return try valid(at: moment).map {
        try KeyFileSigner($0.key(), keyID: $0.keyID, keyVersion: $0.keyVersion)
      }
    } catch let error as KeyServerError {
      throw error
    } catch {
      throw .configuration("exportSigners: \(error)")
    }
  }

  /// Looks for the keys that sign now, without a signature. A key on a token blocks the thread.
  ///
  /// - Throws: `KeyServerError.cannotSign` if one of them cannot sign, `.configuration` as `valid(at:)`.
  func check(at moment: Date) throws(KeyServerError) {
    for signer in try valid(at: moment) {
      let key = try signer.key()
      do { try key.check() } catch { throw .cannotSign("\(error)") }
    }
  }

  /// Returns the configured signers that are valid at `moment`, the newest first.
  ///
  /// - Throws: `KeyServerError.configuration` if there is none or there are too many.
  func valid(at moment: Date) throws(KeyServerError) -> [ExportSigner] {
    let all: [ExportSigner]
    do {
      all = try read()
    } catch {
      throw .configuration("exportSigners cannot be read: check their file and its owner.")
    }
    let signing = try publishedSigners(among: all.filter { $0.signs(at: moment) }, at: moment)
    guard !signing.isEmpty else {
      throw .configuration("exportSigners has no key that is valid now: add one.")
    }
    guard signing.count <= KeyFileLimit.signatureCountMax else {
      throw .configuration(
        "exportSigners has more than \(KeyFileLimit.signatureCountMax) keys that are valid now:"
          + " end the oldest.")
    }
    return Self.newestFirst(signing)
  }

  private func publishedSigners(
    among signers: [ExportSigner], at moment: Date
  ) throws(KeyServerError) -> [ExportSigner] {
    guard let published else { return signers }
    let keys: [DeviceConfiguration.Key]
    do {
      keys = try published().keys(validAt: moment)
    } catch {
      throw .configuration("deviceConfiguration cannot be read: publish it again.")
    }
    let listed = signers.filter { signer in
      keys.contains { $0.keyID == signer.keyID && $0.keyVersion == signer.keyVersion }
    }
    guard signers.isEmpty || !listed.isEmpty else {
      throw .configuration(
        "deviceConfiguration lists no key of exportSigners that is valid now: publish it again.")
    }
    return listed
  }

  /// Sorts stably: signers that begin at the same moment keep their order.
  private static func newestFirst(_ signers: [ExportSigner]) -> [ExportSigner] {
    signers.enumerated().sorted { left, right in
      let (a, b) = (
        left.element.validFrom ?? .distantPast, right.element.validFrom ?? .distantPast
      )
      return a == b ? left.offset < right.offset : a > b
    }.map(\.element)
  }
}

extension ExportSigner {
  /// The public key and the validity for the device configuration.
  ///
  /// - Throws: `KeyServerError.configuration` if the private key is not valid.
  public func publicKey() throws(KeyServerError) -> DeviceConfiguration.Key {
    DeviceConfiguration.Key(
      keyID: keyID, keyVersion: keyVersion, publicKey: try key().publicKey.pemRepresentation,
      validFrom: validFrom.map(\.unixSecond),
      validThru: validThru.map(\.unixSecond))
  }

  fileprivate func signs(at moment: Date) -> Bool {
    (validFrom ?? .distantPast) <= moment && moment < (validThru ?? .distantFuture)
  }
}

/// The remote configuration, signed by the newest valid key that signs key files.
final class SignedConfiguration: Sendable {
  private let state: Mutex<State>
  private let signers: ExportSigners
  private let clock: any WallClock

  private struct State {
    var configuration: RemoteConfiguration
    /// Nil if the key could not sign.
    var signed: Signed?
    /// The time of the last attempt that has not succeeded; clients do not make the server ask a token all the time.
    var failedAt = Date.distantPast
  }

  private struct Signed {
    let keyID: String
    let keyVersion: String
    let data: Data

    func isBy(_ signer: ExportSigner) -> Bool {
      keyID == signer.keyID && keyVersion == signer.keyVersion
    }
  }

  /// Signs the configuration at once, so that a server with an invalid configuration does not start. If the token of
  /// the key is missing, the server starts, because it can accept uploads.
  ///
  /// - Throws: `KeyServerError.configuration` if it cannot be signed.
  init(
    _ configuration: RemoteConfiguration, signers: ExportSigners, clock: any WallClock
  ) throws(KeyServerError) {
    self.signers = signers
    self.clock = clock
    let signer = try Self.signer(of: signers, at: clock.now)
    do {
      let signed = try Self.signed(configuration, by: signer)
      state = Mutex(State(configuration: configuration, signed: signed))
    } catch KeyServerError.cannotSign {
      state = Mutex(State(configuration: configuration, failedAt: clock.now))
    }
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

  /// Returns the signed document. It is signed again when another key becomes the newest; meanwhile the document of an
  /// earlier key that is still valid is returned. One request at a time asks the key, on a thread that may block.
  ///
  /// - Throws: `KeyServerError.unavailable` for a while after the key could not sign.
  func data() async throws(KeyServerError) -> Data {
    let now = clock.now
    let valid = try signers.valid(at: now)
    guard let signer = valid.first else { throw Self.missingSigner }
    let next = try state.withLock { state throws(KeyServerError) -> Next in
      if let signed = state.signed, signed.isBy(signer) { return .signed(signed.data) }
      guard abs(now.timeIntervalSince(state.failedAt)) >= KeyServerLimit.exportRetrySeconds else {
        guard let signed = state.signed, valid.contains(where: signed.isBy) else {
          throw .unavailable
        }
        return .signed(signed.data)
      }
      state.failedAt = now
      return .unsigned(state.configuration)
    }
    switch next {
    case .signed(let data): return data
    case .unsigned(let configuration): return try await sign(configuration, by: signer)
    }
  }

  private enum Next {
    case signed(Data)
    /// This request signs it.
    case unsigned(RemoteConfiguration)
  }

  private func sign(
    _ configuration: RemoteConfiguration, by signer: ExportSigner
  ) async throws(KeyServerError) -> Data {
    let result = await offThread {
      Result { () throws(KeyServerError) in try Self.signed(configuration, by: signer) }
    }
    let signed = try result.get()
    state.withLock { state in
      guard state.configuration == configuration else { return }
      (state.signed, state.failedAt) = (signed, .distantPast)
    }
    return signed.data
  }

  private static let missingSigner = KeyServerError.configuration(
    "exportSigners must not be empty.")

  private static func signer(
    of signers: ExportSigners, at now: Date
  ) throws(KeyServerError) -> ExportSigner {
    guard let signer = try signers.valid(at: now).first else {
      throw missingSigner
    }
    return signer
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
