// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import StrictJSON

/// The keys for `keyfile make`: those of a publish request with additional fields of a key file.
package struct KeysJSON {
  /// In the order of a key file.
  package let keys: [DiagnosisKey]
  package let revisedKeys: [DiagnosisKey]

  /// The number of all keys.
  package var count: Int { keys.count + revisedKeys.count }

  /// Reads the file at `path`.
  ///
  /// - Throws: `CommandFailure` that names the file and the first value that is not valid.
  package init(at path: String) throws {
    let content = try InputFile(path, what: "keys file").content
    do {
      try self.init(decoding: content)
    } catch let failure as CommandFailure {
      throw CommandFailure(
        status: failure.status, message: "The keys file \(path.printable): \(failure.message)")
    }
  }

  /// - Throws: `CommandFailure` that names the first value that is not valid.
  package init(decoding data: Data) throws {
    let wire: Wire
    do {
      wire = try JSONDecoder().decode(Wire.self, from: data)
    } catch let error as DecodingError {
      throw CommandFailure.badInput(error.message(otherwise: "it must be a JSON object of keys."))
    }
    // The decoder silently takes one of two fields with the same name. It accepts a byte order mark.
    guard StrictJSONValidator.accepts(data.withoutByteOrderMark) else {
      throw CommandFailure.badInput("it has a field twice, or is not UTF-8: correct it.")
    }
    let (keys, revisedKeys) = (wire.temporaryExposureKeys, wire.revisedKeys ?? [])
    try Self.refuseDuplicates(
      keys.enumerated().map { ("\(Fields.temporaryExposureKeys.stringValue)[\($0)]", $1) }
        + revisedKeys.enumerated().map { ("\(Fields.revisedKeys.stringValue)[\($0)]", $1) })
    self.keys = keys.map(\.diagnosisKey).sorted(by: DiagnosisKey.inFileOrder)
    self.revisedKeys = revisedKeys.map(\.diagnosisKey).sorted(by: DiagnosisKey.inFileOrder)
  }

  private enum Fields: CodingKey, CaseIterable {
    case temporaryExposureKeys, revisedKeys
  }

  private struct Wire: Decodable {
    let temporaryExposureKeys: [KeyJSON]
    let revisedKeys: [KeyJSON]?

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(refusingFieldsBeside: Fields.self)
      temporaryExposureKeys = try fields.decode([KeyJSON].self, forKey: .temporaryExposureKeys)
      revisedKeys = try fields.decodeIfPresent([KeyJSON].self, forKey: .revisedKeys)
    }
  }

  /// A phone that uploads a key twice would have been in two places, so this is a mistake in the file.
  private static func refuseDuplicates(_ keys: [(place: String, key: KeyJSON)]) throws {
    var places: [[UInt8]: String] = [:]
    for (place, key) in keys {
      let bytes = key.diagnosisKey.key.secretBytes
      if let first = places.updateValue(place, forKey: bytes) {
        throw CommandFailure.badInput("\(place) has the same key as \(first): remove one of them.")
      }
    }
  }
}

/// A key in JSON.
struct KeyJSON: Decodable {
  let diagnosisKey: DiagnosisKey

  private enum Fields: CodingKey, CaseIterable {
    case key, rollingStartNumber, rollingPeriod, transmissionRisk, reportType, daysSinceOnset
    case daysSinceOnsetOfSymptoms, variantOfConcern
  }

  /// The days from the onset of symptoms for which a key can be published.
  private static let daysSinceOnset = -14...14

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(refusingFieldsBeside: Fields.self)
    let period = try Self.number(.rollingPeriod, in: fields, 1...Int(IntervalNumber.perDay))
    let starts = 0...Int(Int32.max) - (period ?? Int(IntervalNumber.perDay)) + 1
    let start = try fields.checked(
      .rollingStartNumber, Self.need(starts),
      { (number: Int) in starts.contains(number) ? number : nil })
    let key = try fields.checked(.key, "needs 16 bytes in base64") { (text: String) in
      Data(base64Encoded: text).flatMap {
        TemporaryExposureKey(
          bytes: $0, rollingStart: IntervalNumber(rawValue: UInt32(start)),
          rollingPeriod: period.map(UInt32.init) ?? IntervalNumber.perDay)
      }
    }
    let risks = DiagnosisKey.transmissionRiskLevels
    let risk = try Self.number(
      .transmissionRisk, in: fields, Int(risks.lowerBound)...Int(risks.upperBound))
    guard
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: UInt8(risk ?? 0),
        reportType: try Self.value(
          .reportType, in: fields, "needs a number from 0 to 5 or a name such as CONFIRMED_TEST"
        ) { (type: ReportTypeJSON) in type.value },
        daysSinceOnsetOfSymptoms: try Self.days(in: fields).map(Int32.init),
        variantOfConcern: try Self.value(
          .variantOfConcern, in: fields, "needs a number from 0 to 4"
        ) { (number: UInt8) in VariantOfConcern(rawValue: number) })
    else {
      throw fields.failure(.transmissionRisk, "is out of range")
    }
    self.diagnosisKey = diagnosisKey
  }

  /// The days under either of the two names.
  private static func days(in fields: KeyedDecodingContainer<Fields>) throws -> Int? {
    let days = try number(.daysSinceOnset, in: fields, daysSinceOnset)
    let others = try number(.daysSinceOnsetOfSymptoms, in: fields, daysSinceOnset)
    guard days == nil || others == nil else {
      throw fields.failure(.daysSinceOnsetOfSymptoms, "repeats daysSinceOnset: remove one of them")
    }
    return days ?? others
  }

  /// The number at `field`, which must be in `range`; nil if it is absent or `null`.
  private static func number(
    _ field: Fields, in fields: KeyedDecodingContainer<Fields>, _ range: ClosedRange<Int>
  ) throws -> Int? {
    try value(field, in: fields, need(range)) { (number: Int) in
      range.contains(number) ? number : nil
    }
  }

  /// The value at `field`, converted by `make`; nil if it is absent or `null`.
  private static func value<Raw: Decodable, Value>(
    _ field: Fields, in fields: KeyedDecodingContainer<Fields>, _ need: String,
    _ make: (Raw) throws -> Value?
  ) throws -> Value? {
    guard fields.contains(field), try !fields.decodeNil(forKey: field) else { return nil }
    return try fields.checked(field, need, make)
  }

  private static func need(_ range: ClosedRange<Int>) -> String {
    "needs a whole number from \(range.lowerBound) to \(range.upperBound)"
  }
}

/// A report type, as the number or name of the key file format.
private struct ReportTypeJSON: Decodable {
  /// Nil if there is no such type.
  let value: ReportType?

  private static let names: [String: ReportType] = [
    "UNKNOWN": .unknown, "CONFIRMED_TEST": .confirmedTest,
    "CONFIRMED_CLINICAL_DIAGNOSIS": .confirmedClinicalDiagnosis, "SELF_REPORT": .selfReport,
    "RECURSIVE": .recursive, "REVOKED": .revoked,
  ]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A type that is not a number is a name.
    if let number = try? container.decode(Int32.self) {
      value = ReportType(rawValue: number)
    } else {
      value = Self.names[try container.decode(String.self).uppercased()]
    }
  }
}

/// Any field name.
private struct FieldName: CodingKey {
  let stringValue: String
  let intValue: Int? = nil

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// The fields of an object.
  ///
  /// - Throws: `CommandFailure` if the object has a field that `names` does not have.
  fileprivate func container<Names: CodingKey & CaseIterable>(
    refusingFieldsBeside names: Names.Type
  ) throws -> KeyedDecodingContainer<Names> {
    let known = Set(Names.allCases.map(\.stringValue))
    let all = try container(keyedBy: FieldName.self)
    let unknown = all.allKeys.filter { !known.contains($0.stringValue) }
    if let first = unknown.min(by: { $0.stringValue < $1.stringValue }) {
      throw all.failure(first, "is not a field of a key file: correct or remove it")
    }
    return try container(keyedBy: names)
  }
}

extension KeyedDecodingContainer {
  fileprivate func failure(_ key: Key, _ fault: String) -> CommandFailure {
    .badInput("\((codingPath + [key]).place.printable) \(fault).")
  }
}
