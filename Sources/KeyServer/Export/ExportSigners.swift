// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import Secrets
import ServerStorage
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

  /// Returns `true` if a key that is valid at `moment` may block the thread.
  ///
  /// - Throws: `KeyServerError.configuration`, as `valid(at:)`.
  func mayBlock(at moment: Date) throws(KeyServerError) -> Bool {
    for signer in try valid(at: moment) where try signer.key().mayBlock { return true }
    return false
  }

  /// Checks that the keys that sign now are available. A key on a token blocks the thread.
  ///
  /// - Parameter bySigning: True to let each key sign, which also notices a key that is found and cannot be used.
  /// - Throws: `KeyServerError.cannotSign` if one of them cannot sign, `.configuration` as `valid(at:)`.
  func check(at moment: Date, bySigning: Bool) throws(KeyServerError) {
    for signer in try valid(at: moment) {
      let key = try signer.key()
      do {
        if bySigning {
          try key.signTest()
        } else {
          try key.checkAvailability()
        }
      } catch {
        throw .cannotSign("\(error)")
      }
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

extension SignerCalls {
  /// The calls of a key server, which fail with `KeyServerError.cannotSign`.
  convenience init(clock: any WallClock) {
    self.init(clock: clock, limitSeconds: KeyServerLimit.signerSeconds) {
      KeyServerError.cannotSign($0)
    }
  }
}
