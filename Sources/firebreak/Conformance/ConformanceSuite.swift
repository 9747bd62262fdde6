import ArgumentParser
import Foundation

/// The published suites that we can be held to. Documentation/CommandLine.md 5.
enum ConformanceSuite: String, CaseIterable, ExpressibleByArgument {
  case gaenCrypto = "gaen-crypto"
  case cwaRisk = "cwa-risk"
  case tekHMAC = "tek-hmac"
  case keyFiles = "key-files"

  /// What it tries.
  var summary: String {
    switch self {
    case .gaenCrypto: "keys, identifiers and metadata of the Cryptography Specification"
    case .cwaRisk: "exposure windows to risk by a policy that is data"
    case .tekHMAC: "the HMAC over uploaded keys"
    case .keyFiles: "export files and their signatures; also a folder of zips with their PEMs"
    }
  }

  /// Runs the cases of the file at `path`; refuses one that is not of the suite's form.
  func outcomes(of path: String) throws -> [CaseOutcome] {
    if self == .keyFiles, Self.isFolder(path) { return try KeyFileFolder(at: path).outcomes() }
    let content = try InputFile(path, what: "suite").content
    do {
      return try outcomes(decoding: content)
    } catch let error as DecodingError {
      throw CommandFailure.badInput(
        "\(path.printable): \(error.sentence(otherwise: "it is no JSON of this suite's form."))")
    } catch let failure as CommandFailure where failure.status == .badInput {
      throw CommandFailure.badInput("\(path.printable): \(failure.sentence)")
    }
  }

  private func outcomes(decoding content: Data) throws -> [CaseOutcome] {
    let decoder = JSONDecoder()
    return switch self {
    case .gaenCrypto: try decoder.decode(CryptoVectors.self, from: content).outcomes()
    case .cwaRisk: try decoder.decode(RiskVectors.self, from: content).outcomes()
    case .tekHMAC: try decoder.decode(HMACVectors.self, from: content).outcomes()
    case .keyFiles: try decoder.decode(KeyFileVectors.self, from: content).outcomes()
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }
}
