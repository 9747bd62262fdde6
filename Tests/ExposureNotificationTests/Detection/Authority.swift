// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import TestSupport

@testable import DiagnosisKeyFile

/// A health authority that signs key files in a temporary folder.
struct Authority {
  let folder: TemporaryFolder
  private let signer: KeyFileSigner

  init() throws {
    folder = try TemporaryFolder()
    signer = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
  }

  /// The public key in the form of `Device.setTrustedKeys(_:)`.
  var publicKey: (keyID: String, keyVersion: String, publicKeyPEM: String) {
    ("260", "v1", signer.publicKeyPEM)
  }

  var verificationKeys: [VerificationPublicKey] {
    get throws {
      [
        try VerificationPublicKey(
          keyID: "260", keyVersion: "v1", publicKeyPEM: signer.publicKeyPEM)
      ]
    }
  }

  /// Publishes `keys` and the revisions `revised`.
  func publish(
    _ keys: [DiagnosisKey], revised: [DiagnosisKey] = [], as name: String = "1.zip",
    region: String = "PL"
  ) throws -> URL {
    let url = folder.path(name)
    try KeyFileWriter.write(
      to: url, start: 1_585_785_600, end: 1_585_800_000, region: region,
      keys: keys.sorted(by: DiagnosisKey.inFileOrder), revisedKeys: revised, signers: [signer])
    return url
  }

  /// Publishes `keys` as one batch of a divided export, as an export and its signature beside it.
  func publishBatch(_ number: Int32, of size: Int32, _ keys: [DiagnosisKey]) throws -> URL {
    let url = folder.path("batch-\(number)-of-\(size).bin")
    let header = KeyFileHeader(
      start: 1_585_785_600, end: 1_585_800_000, region: "PL", batchNumber: number,
      batchSize: size, signatureInfos: [signer.info])
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    let export = AppendedFile(file.fileDescriptor)
    let (_, digest) = try ExportBody.writing(header, to: export.append) { body in
      for key in keys { try body.append(key) }
    }
    let signatures = try KeyFileWriter.signatureFile(
      over: digest, header: header, signers: [signer])
    try Data(signatures).write(to: url.deletingPathExtension().appendingPathExtension("sig"))
    return url
  }

  /// Extracts export and signature of `zip` into the same folder and returns the export's URL.
  func unzipped(_ zip: URL) throws -> URL {
    var halves: [ExportPart: [UInt8]] = [:]
    try ZipSource.source(at: zip).read { part, chunk in halves[part, default: []] += chunk }
    let export = zip.deletingPathExtension().appendingPathExtension("bin")
    try Data(halves[.export] ?? []).write(to: export)
    try Data(halves[.signatures] ?? [])
      .write(to: zip.deletingPathExtension().appendingPathExtension("sig"))
    return export
  }
}
