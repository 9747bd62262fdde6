// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Synchronization
import Terminal
import TextEncodings
import World

/// `keyfile make`: makes a signed key file from keys in JSON.
struct MakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make a signed key file.",
    discussion: """
      KEYS.json: {"temporaryExposureKeys": [{"key": base64, "rollingStartNumber", "rollingPeriod", \
      "transmissionRisk", "reportType", "daysSinceOnset", "variantOfConcern"}], "revisedKeys": \
      [...]}. Only key and rollingStartNumber are required; reportType is a number 0...5 or a name \
      such as CONFIRMED_TEST, variantOfConcern a number 0...4.
      """)

  @Option(help: "The keys, in JSON.")
  var keys: String

  @Option(help: "The P-256 private key of the authority, in PEM (SEC1 or PKCS#8).")
  var signingKey: String

  @Option(name: .customLong("key-id"), help: "The key ID, such as 260.")
  var keyID: String

  @Option(help: "The key version, such as v1.")
  var keyVersion: String

  @Option(help: "The region, such as PL.")
  var region: String

  @Option(help: "The start of the period, in Unix seconds.")
  var start: UInt64

  @Option(help: "The end of the period (exclusive), in Unix seconds.")
  var end: UInt64

  @Option(help: "The zip to write; an existing file is replaced.")
  var output: String

  @Flag(help: "Print the content as one JSON object.")
  var json = false

  func run() throws {
    let keys = try KeysJSON(decoding: InputFile(keys, what: "keys file").content)
    let signer = try KeyFileSigner(
      privateKeyPEM: InputFile(signingKey, what: "signing key").text, keyID: keyID,
      keyVersion: keyVersion)
    let url = URL(fileURLWithPath: output)
    try checkReplaceable(url)
    let unfinished = UnfinishedFile()
    let cleanUp = CleanUp(unfinished.remove)
    defer { cleanUp.run() }
    let facts = try KeyFileWriter.write(
      to: url, start: start, end: end, region: region, keys: keys.keys,
      revisedKeys: keys.revisedKeys, signers: [signer], create: unfinished.create)
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(KeyFileTable(name: url.lastPathComponent, facts: facts).text)
    }
  }

  /// Refuses to replace a device or folder by a file.
  private func checkReplaceable(_ url: URL) throws {
    let attributes = FileManager.default.attributes(of: url)
    guard let attributes, attributes[.type] as? FileAttributeType != .typeRegular else { return }
    throw CommandFailure.badInput(
      "\(output.printable) is not a regular file: choose another --output.")
  }
}

/// The keys for `keyfile make`: those of a publish request with additional fields of a key file.
struct KeysJSON {
  /// In the order of a key file.
  let keys: [DiagnosisKey]
  let revisedKeys: [DiagnosisKey]

  /// - Throws: `CommandFailure` that names the invalid key.
  init(decoding data: Data) throws {
    let wire: Wire
    do {
      wire = try JSONDecoder().decode(Wire.self, from: data)
    } catch let error as DecodingError {
      throw CommandFailure.badInput(
        "The keys file: \(error.message(otherwise: "expected a JSON object of keys."))")
    }
    keys = try Self.sorted(wire.temporaryExposureKeys, in: "temporaryExposureKeys")
    revisedKeys = try Self.sorted(wire.revisedKeys ?? [], in: "revisedKeys")
  }

  private struct Wire: Decodable {
    let temporaryExposureKeys: [KeyJSON]
    let revisedKeys: [KeyJSON]?
  }

  private static func sorted(_ keys: [KeyJSON], in list: String) throws -> [DiagnosisKey] {
    try keys.enumerated().map { index, key in
      guard let key = key.diagnosisKey else {
        throw CommandFailure.badInput(
          "\(list)[\(index)]: expected 16 bytes in base64, a rollingPeriod of 1...144, a "
            + "transmissionRisk of 0...8 and a rollingStartNumber that ends within 31 bits.")
      }
      return key
    }.sorted(by: DiagnosisKey.inFileOrder)
  }
}

/// A key in JSON.
struct KeyJSON: Decodable {
  private let key: Data
  private let rollingStartNumber: UInt32
  private let rollingPeriod: UInt32?
  private let transmissionRisk: UInt8?
  private let reportType: ReportTypeJSON?
  private let daysSinceOnset: Int32?
  private let daysSinceOnsetOfSymptoms: Int32?
  private let variantOfConcern: VariantOfConcernJSON?

  /// The key, or nil if it is invalid.
  var diagnosisKey: DiagnosisKey? {
    let start = IntervalNumber(rawValue: rollingStartNumber)
    guard rollingStartNumber <= Int32.max,
      let key = TemporaryExposureKey(
        bytes: key, rollingStart: start, rollingPeriod: rollingPeriod ?? IntervalNumber.perDay)
    else { return nil }
    return DiagnosisKey(
      key: key, transmissionRiskLevel: transmissionRisk ?? 0, reportType: reportType?.value,
      daysSinceOnsetOfSymptoms: daysSinceOnsetOfSymptoms ?? daysSinceOnset,
      variantOfConcern: variantOfConcern?.value)
  }
}

/// A report type, as the number or name of the key file format.
struct ReportTypeJSON: Decodable {
  let value: ReportType

  private static let names: [String: ReportType] = [
    "UNKNOWN": .unknown, "CONFIRMED_TEST": .confirmedTest,
    "CONFIRMED_CLINICAL_DIAGNOSIS": .confirmedClinicalDiagnosis, "SELF_REPORT": .selfReport,
    "RECURSIVE": .recursive, "REVOKED": .revoked,
  ]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let value =
      if let number = container.decodeIfMatching(Int32.self) {
        ReportType(rawValue: number)
      } else {
        Self.names[try container.decode(String.self).uppercased()]
      }
    guard let value else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "expected a report type, 0 to 5 or a name")
    }
    self.value = value
  }
}

/// A variant of concern, as the number of the key file format.
struct VariantOfConcernJSON: Decodable {
  let value: VariantOfConcern

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let number = container.decodeIfMatching(UInt8.self),
      let value = VariantOfConcern(rawValue: number)
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "expected a variant of concern, a number from 0 to 4")
    }
    self.value = value
  }
}

/// A temporary file that is removed if the program ends before the file is complete.
final class UnfinishedFile: Sendable {
  private enum State {
    case waiting
    case created(URL)
    case removed
  }

  private let state = Mutex(State.waiting)

  /// Creates the file under the lock, so that `remove` never misses it. Creates none after `remove`.
  func create(_ create: () -> URL?) {
    state.withLock { state in
      guard case .waiting = state, let url = create() else { return }
      state = .created(url)
    }
  }

  /// Removes the file if it still has its temporary name.
  @Sendable func remove() {
    state.withLock { state in
      if case .created(let url) = state { unlink(url.path) }
      state = .removed
    }
  }
}
