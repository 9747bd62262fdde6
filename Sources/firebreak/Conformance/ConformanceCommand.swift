// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Terminal

/// `firebreak conformance`: runs published test vectors.
struct ConformanceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformance",
    abstract: "Run published test vectors against this implementation.",
    discussion: """
      \(ConformanceSuite.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "\n"))
      Exit code 0: all passed; 1: some failed; 2: the file does not have the form of the suite.
      """)

  @Argument(help: "The suite.")
  var suite: ConformanceSuite

  @Argument(help: "The file of the suite.")
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let outcomes = try suite.outcomes(of: file)
    guard !outcomes.isEmpty else {
      throw CommandFailure.badInput(
        "\(file.printable): no case of this suite found; name the file of the suite \(suite.rawValue)."
      )
    }
    let report = ConformanceReport(suite: suite, outcomes: outcomes)
    try json ? printJSON(report) : StandardOutput.write(report.text)
    if report.failed > 0 { throw ExitCode(ExitStatus.no.rawValue) }
  }
}

/// The published suites that can be run.
enum ConformanceSuite: String, CaseIterable, ExpressibleByArgument {
  case gaenCrypto = "gaen-crypto"
  case cwaRisk = "cwa-risk"
  case tekHMAC = "tek-hmac"
  case keyFiles = "key-files"

  var summary: String {
    switch self {
    case .gaenCrypto: "keys, identifiers and metadata of the Cryptography Specification"
    case .cwaRisk: "risk levels of exposure windows by a configurable policy"
    case .tekHMAC: "the HMAC over uploaded keys"
    case .keyFiles: "export files and their signatures; also a folder of zips with their PEMs"
    }
  }

  /// Runs the cases of the file at `path`.
  ///
  /// - Throws: `CommandFailure` if the file does not have the form of the suite.
  func outcomes(of path: String) throws -> [CaseOutcome] {
    if self == .keyFiles, FileManager.default.isFolder(at: path) {
      return try KeyFileFolder(at: path).outcomes()
    }
    let content = try InputFile(path, what: "suite").content
    do {
      return try outcomes(decoding: content)
    } catch let error as DecodingError {
      let otherwise = "not in the form of the suite \(rawValue); name its file."
      throw CommandFailure.badInput("\(path.printable): \(error.message(otherwise: otherwise))")
    } catch let failure as CommandFailure where failure.status == .badInput {
      throw CommandFailure.badInput("\(path.printable): \(failure.message)")
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
}

/// The result of a suite.
struct ConformanceReport: Encodable {
  let suite: String
  let passed: Int
  let failed: Int
  /// The failed cases, in the order of the file.
  let failures: [CaseOutcome]

  init(suite: ConformanceSuite, outcomes: [CaseOutcome]) {
    self.suite = suite.rawValue
    failures = outcomes.filter { !$0.isPassed }
    failed = failures.count
    passed = outcomes.count - failures.count
  }

  var text: String {
    (failures.map(\.text) + ["\(passed) passed, \(failed) failed"]).joined(separator: "\n")
  }
}

/// A case of a suite with the expected and the actual result.
struct CaseOutcome: Encodable {
  let name: String
  let expected: String
  let got: String

  var isPassed: Bool { expected == got }

  var text: String {
    "FAILED \(name.printable)\n  expected \(expected.printable)\n  got      \(got.printable)"
  }

  private enum CodingKeys: String, CodingKey {
    case name = "case"
    case expected, got
  }
}
