import DiagnosisKeyFile
import Foundation

/// Those who sign key files, asked anew before every export, so that a key can be changed while the
/// server runs.
struct ExportSigners: Sendable {
  private let read: @Sendable () throws -> [ExportSigner]

  /// The signers that `read` gives, whenever it is asked.
  init(_ read: @escaping @Sendable () throws -> [ExportSigner]) {
    self.read = read
  }

  /// Those who sign at `moment`, the newest first; 1 to 10, as a phone reads.
  ///
  /// - Throws: `KeyServerError.configuration` where there is none, too many, or one that is no key.
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

  /// Those who sign at `moment`, the newest first.
  ///
  /// - Throws: `KeyServerError.configuration` where there is none or too many.
  func valid(at moment: Date) throws(KeyServerError) -> [ExportSigner] {
    let all: [ExportSigner]
    do {
      all = try read()
    } catch {
      throw .configuration("exportSigners cannot be read: check their file and its owner.")
    }
    let signing = all.filter { $0.signs(at: moment) }
    guard !signing.isEmpty else {
      throw .configuration("exportSigners must hold a key that signs now: add one.")
    }
    guard signing.count <= KeyFileLimit.signatureCountMax else {
      throw .configuration(
        "exportSigners holds more than \(KeyFileLimit.signatureCountMax) keys that sign now:"
          + " end the oldest.")
    }
    return Self.newestFirst(signing)
  }

  /// Those that begin at the same moment keep their order.
  private static func newestFirst(_ signers: [ExportSigner]) -> [ExportSigner] {
    signers.enumerated().sorted { left, right in
      let (a, b) = (
        left.element.validFrom ?? .distantPast, right.element.validFrom ?? .distantPast
      )
      return a == b ? left.offset < right.offset : a > b
    }.map(\.element)
  }
}
