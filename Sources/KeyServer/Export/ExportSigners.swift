import DiagnosisKeyFile
import Foundation
import Secrets

/// The keys that sign key files, read before every export so that they can be changed while the server runs.
struct ExportSigners: Sendable {
  private let read: @Sendable () throws -> [ExportSigner]

  init(_ read: @escaping @Sendable () throws -> [ExportSigner]) {
    self.read = read
  }

  /// Returns the signers that are valid at `moment`, the newest first; 1 to 10, as many as phones accept.
  ///
  /// - Throws: `KeyServerError.configuration` if there is none, there are too many, or a private key is invalid.
  func keyFileSigners(at moment: Date) throws(KeyServerError) -> [KeyFileSigner] {
    do {
      return try valid(at: moment).map {
        try KeyFileSigner(
          privateKeyPEM: $0.privateKeyPEM, keyID: $0.keyID, keyVersion: $0.keyVersion)
      }
    } catch let error as KeyServerError {
      throw error
    } catch {
      throw .configuration("exportSigners: \(error)")
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
    let signing = all.filter { $0.signs(at: moment) }
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

/// A private key that signs key files, its name in them, and its period of validity.
///
/// An authority changes its key by overlap: the new key signs beside the old one until every phone knows it
/// (see "Signing keys" in Documentation/Exports.md).
public struct ExportSigner: Sendable {
  /// The P-256 private key in PEM, SEC1 or PKCS#8.
  public let privateKeyPEM: String
  /// The key ID in the file; by custom the authority's mobile country code, such as `260`.
  public let keyID: String
  /// The key version in the file, such as `v1`.
  public let keyVersion: String
  /// The start of its validity; nil if unlimited.
  public let validFrom: Date?
  /// The end of its validity, exclusive; nil if unlimited.
  public let validThru: Date?

  /// Creates a signer. The PEM is validated when the server starts.
  public init(
    privateKeyPEM: String, keyID: String, keyVersion: String, validFrom: Date? = nil,
    validThru: Date? = nil
  ) {
    self.privateKeyPEM = privateKeyPEM
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.validFrom = validFrom
    self.validThru = validThru
  }
}

extension ExportSigner {
  fileprivate func signs(at moment: Date) -> Bool {
    (validFrom ?? .distantPast) <= moment && moment < (validThru ?? .distantFuture)
  }
}

extension ExportSigner: Redacted {
  /// The key ID and version.
  public var description: String { "ExportSigner(\(keyID) \(keyVersion))" }
}
