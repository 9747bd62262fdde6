import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Terminal

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
        let check = SignatureCheck(publicKeyPEM: try Self.text(of: publicKey))
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
    let expected = try KeysJSON(decoding: InputFile(list.path, what: "keys file").content)
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
      return ([key.key.secretBytes.lowerCaseHex] + numbers.map(String.init)).joined(separator: " ")
    }.joined(separator: ", ")
  }

  private static func text(of file: URL) throws -> String {
    try InputFile(file.path, what: "public key").text
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
