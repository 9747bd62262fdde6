import ExposureKeys
import Foundation
import Terminal

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
      if let number = try? container.decode(Int32.self) {
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
    guard let number = try? container.decode(UInt8.self),
      let value = VariantOfConcern(rawValue: number)
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "expected a variant of concern, a number from 0 to 4")
    }
    self.value = value
  }
}
