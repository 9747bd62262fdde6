import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Terminal

/// Published export files with the keys that verify them and keys that must not.
struct KeyFileVectors: Decodable {
  let unsigned: UnsignedExport
  let signed: SignedExport
  let foreignKeys: [ForeignKey]
  let payload: HexBytes

  private enum CodingKeys: String, CodingKey {
    case unsigned = "golden_unsigned_export"
    case signed = "signed_export_small"
    case foreignKeys = "negative_public_keys"
    case payload = "advertising_payload_interval_0"
  }

  struct UnsignedExport: Decodable {
    let bytes: HexBytes
    let sha256_base64: Data
  }

  struct SignedExport: Decodable {
    let export_bin: HexBytes
    let export_sig: HexBytes
    let public_key_spki_base64: Data
    let verifies: Bool
  }

  struct ForeignKey: Decodable {
    let public_key_spki_base64: Data
    let verifies_signed_export_small: Bool
  }

  func outcomes() throws -> [CaseOutcome] {
    let folder = try ScratchFolder()
    let golden = try folder.keyFile("golden", export: unsigned.bytes.bytes)
    let small = try folder.keyFile(
      "small", export: signed.export_bin.bytes, signature: signed.export_sig.bytes)
    let changed = try folder.keyFile(
      "changed", export: Self.changed(signed.export_bin.bytes),
      signature: signed.export_sig.bytes)
    let key = signed.public_key_spki_base64
    return [
      digest(of: golden),
      Self.verification("golden_unsigned_export: verifies", golden, key, expected: false),
      Self.verification("signed_export_small: verifies", small, key, expected: signed.verifies),
      Self.verification(
        "signed_export_small: verifies with one bit changed", changed, key, expected: false),
    ]
      + foreignKeys.enumerated().map { index, foreign in
        Self.verification(
          "negative_public_keys[\(index)]: verifies signed_export_small", small,
          foreign.public_key_spki_base64, expected: foreign.verifies_signed_export_small)
      } + [advertisement]
  }

  private func digest(of file: UnverifiedKeyFile) -> CaseOutcome {
    let got = Result { try file.inspect().exportSHA256 }.map { Data($0).base64EncodedString() }
    return CaseOutcome(
      name: "golden_unsigned_export: sha256_base64",
      expected: unsigned.sha256_base64.base64EncodedString(), got: got.text)
  }

  /// A parsed and serialized advertisement has the same 31 bytes.
  private var advertisement: CaseOutcome {
    CaseOutcome(
      name: "advertising_payload_interval_0", expected: payload.text,
      got: Advertisement(payload: payload.bytes)?.payload.lowerCaseHex ?? "not a beacon")
  }

  private static func verification(
    _ name: String, _ file: UnverifiedKeyFile, _ publicKey: Data, expected: Bool
  ) -> CaseOutcome {
    CaseOutcome(
      name: name, expected: "\(expected)",
      got: SignatureCheck(publicKeyPEM: SignatureCheck.pem(subjectPublicKeyInfo: publicKey))
        .holds(for: file).map { "\($0)" }.text)
  }

  private static func changed(_ bytes: [UInt8]) -> [UInt8] {
    bytes.dropLast() + bytes.suffix(1).map { $0 ^ 1 }
  }
}

/// A temporary folder for the files in a suite; removed with the value.
final class ScratchFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("firebreak-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Writes an export and its signature, if there is one.
  func keyFile(
    _ name: String, export: [UInt8], signature: [UInt8]? = nil
  ) throws -> UnverifiedKeyFile {
    let file = url.appendingPathComponent("\(name).bin")
    try Data(export).write(to: file)
    if let signature {
      try Data(signature).write(to: url.appendingPathComponent("\(name).sig"))
    }
    return UnverifiedKeyFile(at: file)
  }
}
