import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// A folder of key files: in each folder inside, zips with the public key that verifies them, and the
/// keys that are in them where somebody wrote these down.
struct KeyFileFolder {
  private let zips: [URL]
  private let publicKeys: [URL]

  /// Looks for zips and PEMs at any depth.
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

  /// For each zip: its folder's key verifies it, the keys of other folders do not, and its keys are
  /// those of `keys.json`.
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
    let expected = try KeysJSON(decoding: InputFile(list.path, what: "file of keys").content)
    let got = Result {
      var keys: [DiagnosisKey] = []
      _ = try UnverifiedKeyFile(at: zip).unverifiedKeys(batchSize: KeyFileTrust.batchSize) {
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

  /// The file with the folder it is in.
  private static func name(_ file: URL) -> String {
    file.deletingLastPathComponent().lastPathComponent + "/" + file.lastPathComponent
  }
}
