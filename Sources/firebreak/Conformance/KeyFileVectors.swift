// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Terminal
import TextEncodings
import World

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
      got: Advertisement(payload: payload.bytes)?.payload.hexadecimal ?? "not a beacon")
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

/// A folder of key files. Each subfolder has zips, the public key that verifies them, and optionally a `keys.json` with
/// their content.
struct KeyFileFolder {
  private let zips: [URL]
  private let publicKeys: [URL]

  /// Finds zips and PEM files at any depth.
  init(at path: String) throws {
    let root = URL(fileURLWithPath: path, isDirectory: true)
    let files =
      FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.sorted { $0.path < $1.path } ?? []
    zips = files.filter { $0.pathExtension == "zip" }
    publicKeys = files.filter {
      $0.pathExtension == "pem" && $0.lastPathComponent.hasPrefix("public")
    }
  }

  /// For each zip: the key of its folder verifies it, the keys of other folders do not, and its keys are those of
  /// `keys.json`.
  func outcomes() throws -> [CaseOutcome] {
    try zips.flatMap { zip in
      try publicKeys.map { publicKey in
        let check = SignatureCheck(publicKeyPEM: try Self.pem(of: publicKey))
        return CaseOutcome(
          name: "\(Self.name(zip)): verifies with \(Self.name(publicKey))",
          expected: "\(Self.folder(zip) == Self.folder(publicKey))",
          got: check.holds(for: UnverifiedKeyFile(at: zip)).map { "\($0)" }.text)
      } + (try keysOutcome(of: zip))
    }
  }

  private func keysOutcome(of zip: URL) throws -> [CaseOutcome] {
    let list = zip.deletingLastPathComponent().appendingPathComponent("keys.json")
    guard FileManager.default.fileExists(atPath: list.path) else { return [] }
    let expected = try KeysJSON(at: list.path)
    let got = Result {
      var keys: [DiagnosisKey] = []
      _ = try UnverifiedKeyFile(at: zip).unverifiedKeys(batchSize: SignatureRequirement.batchSize) {
        keys += $0.keys
      }
      return Self.text(of: keys)
    }
    return [
      CaseOutcome(
        name: "\(Self.name(zip)): keys",
        expected: Self.text(of: expected.keys + expected.revisedKeys), got: got.text)
    ]
  }

  private static func text(of keys: [DiagnosisKey]) -> String {
    keys.map { key in
      let numbers = [
        Int(key.key.rollingStart.rawValue), Int(key.key.rollingPeriod),
        Int(key.transmissionRiskLevel),
      ]
      return ([key.key.secretBytes.hexadecimal] + numbers.map(String.init)).joined(separator: " ")
    }.joined(separator: ", ")
  }

  private static func pem(of file: URL) throws -> String {
    try P256KeyFile(file.path, what: "public key").publicKeyPEM()
  }

  private static func folder(_ file: URL) -> String { file.deletingLastPathComponent().path }

  /// The name of the file with its folder.
  private static func name(_ file: URL) -> String {
    file.deletingLastPathComponent().lastPathComponent + "/" + file.lastPathComponent
  }
}

/// Checks whether a key file is signed by a key, with any ID and version.
struct SignatureCheck {
  let publicKeyPEM: String

  /// The result, or an error if the file or the key is invalid.
  func holds(for file: UnverifiedKeyFile) -> Result<Bool, any Error> {
    Result {
      let keys = try file.signatures().map {
        try VerificationPublicKey(
          keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion,
          publicKeyPEM: publicKeyPEM)
      }
      do {
        _ = try file.verified(by: keys, batchSize: SignatureRequirement.batchSize) { _ in }
        return true
      } catch let error as KeyFileError where error.exitStatus == .no {
        return false
      }
    }
  }

  /// Converts a public key from DER to PEM.
  static func pem(subjectPublicKeyInfo: Data) -> String {
    let text = subjectPublicKeyInfo.base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }
}

extension Result<String, any Error> {
  /// The value, or the error.
  var text: String {
    switch self {
    case .success(let text): text
    case .failure(let error): "\(error)"
    }
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
    FileManager.default.removeUnneeded(url)
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
