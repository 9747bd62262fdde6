// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Terminal

/// An exposure configuration in JSON, with the property names of Apple's framework.
///
/// Unknown properties are rejected: a misspelled weight would silently keep its default.
struct ConfigurationJSON: Decodable {
  let configuration: ENExposureConfiguration

  /// - Throws: `CommandFailure` that names the invalid property.
  static func read(_ path: String) throws -> ENExposureConfiguration {
    let file = try InputFile(path, what: "configuration")
    let configuration = try read(file.content, path: path)
    // The decoder silently takes one of two fields with the same name.
    guard file.isUnambiguousJSON else {
      throw CommandFailure.badInput("\(path.printable): \(InputFile.ambiguity)")
    }
    return configuration
  }

  /// Decodes the content of the file at `path`.
  ///
  /// - Throws: `CommandFailure` that names the file and the invalid property.
  static func read(_ content: Data, path: String) throws -> ENExposureConfiguration {
    do {
      return try JSONDecoder().decode(Self.self, from: content).configuration
    } catch let error as DecodingError {
      let otherwise = "expected a JSON object of properties."
      throw CommandFailure.badInput("\(path.printable): \(error.message(otherwise: otherwise))")
    } catch let failure as CommandFailure {
      throw CommandFailure.badInput("\(path.printable): \(failure.message)")
    }
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: PropertyName.self)
    configuration = ENExposureConfiguration()
    for name in fields.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      if let weight = Self.numbers[name.stringValue] {
        configuration[keyPath: weight] = try fields.checked(name, "must be a number") { $0 }
      } else if let list = Self.lists[name.stringValue] {
        configuration[keyPath: list] = try fields.checked(name, "must be a list of numbers") {
          (values: [Double]) in values.map(NSNumber.init(value:))
        }
      } else {
        try readOther(name, of: fields)
      }
    }
  }

  private func readOther(
    _ name: PropertyName, of fields: KeyedDecodingContainer<PropertyName>
  ) throws {
    switch name.stringValue {
    case "minimumRiskScore":
      configuration.minimumRiskScore = try fields.checked(
        name, "must be a whole number from 0 to 255", ENRiskScore.init(exactly:) as (Int) -> UInt8?
      )
    case "daysSinceLastExposureThreshold":
      configuration.daysSinceLastExposureThreshold = try fields.checked(
        name, "must be a whole number of days"
      ) { $0 }
    case "reportTypeNoneMap":
      configuration.reportTypeNoneMap = try fields.checked(
        name, "must be a whole number from 0 to 5", ENDiagnosisReportType.init)
    case "infectiousnessForDaysSinceOnsetOfSymptoms":
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = try fields.checked(
        name, "must map days from -14 to 14, or \"unknown\", to 0, 1 or 2, each day once",
        InfectiousnessMap.numbers)
    case "metadata":
      configuration.metadata = try fields.checked(
        name, "must be an object with attenuationDurationThresholds and minimumRiskScoreFullRange"
      ) {
        (metadata: MetadataJSON) in metadata.values
      }
    case "alertScore", "apiVersion":
      throw CommandFailure.badInput(
        "\(name.stringValue) is read by firebreak trials only: remove it.")
    default:
      throw CommandFailure.badInput(
        "\(name.stringValue.printable) is not a property of ENExposureConfiguration: check the spelling."
      )
    }
  }
}

extension ConfigurationJSON {
  /// The properties with a number.
  static var numbers: [String: ReferenceWritableKeyPath<ENExposureConfiguration, Double>] {
    [
      "minimumRiskScoreFullRange": \.minimumRiskScoreFullRange,
      "attenuationWeight": \.attenuationWeight,
      "daysSinceLastExposureWeight": \.daysSinceLastExposureWeight,
      "durationWeight": \.durationWeight,
      "transmissionRiskWeight": \.transmissionRiskWeight,
      "immediateDurationWeight": \.immediateDurationWeight,
      "nearDurationWeight": \.nearDurationWeight,
      "mediumDurationWeight": \.mediumDurationWeight,
      "otherDurationWeight": \.otherDurationWeight,
      "infectiousnessStandardWeight": \.infectiousnessStandardWeight,
      "infectiousnessHighWeight": \.infectiousnessHighWeight,
      "reportTypeConfirmedTestWeight": \.reportTypeConfirmedTestWeight,
      "reportTypeConfirmedClinicalDiagnosisWeight": \.reportTypeConfirmedClinicalDiagnosisWeight,
      "reportTypeSelfReportedWeight": \.reportTypeSelfReportedWeight,
      "reportTypeRecursiveWeight": \.reportTypeRecursiveWeight,
    ]
  }

  /// The properties with a list of numbers.
  static var lists: [String: ReferenceWritableKeyPath<ENExposureConfiguration, [NSNumber]>] {
    [
      "attenuationDurationThresholds": \.attenuationDurationThresholds,
      "attenuationLevelValues": \.attenuationLevelValues,
      "daysSinceLastExposureLevelValues": \.daysSinceLastExposureLevelValues,
      "durationLevelValues": \.durationLevelValues,
      "transmissionRiskLevelValues": \.transmissionRiskLevelValues,
    ]
  }
}

/// The JSON form of the map from days since onset of symptoms to infectiousness.
enum InfectiousnessMap {
  /// The name for an unknown onset; Apple's number is accepted too.
  static let unknown = "unknown"

  /// The map for the framework, or nil if a day is not a whole number, or has two names, such as 1 and 01.
  static func numbers(_ map: [String: Int]) -> [NSNumber: NSNumber]? {
    var numbers: [NSNumber: NSNumber] = [:]
    for (name, infectiousness) in map {
      guard let day = name == unknown ? ENDaysSinceOnsetOfSymptomsUnknown : Int(name) else {
        return nil
      }
      let earlier = numbers.updateValue(
        NSNumber(value: infectiousness), forKey: NSNumber(value: day))
      guard earlier == nil else { return nil }
    }
    return numbers
  }
}

/// The two fields that apps for iOS 13.5 set in `metadata`; they override the properties.
struct MetadataJSON: Decodable {
  private let attenuationDurationThresholds: [Double]?
  private let minimumRiskScoreFullRange: Double?

  var values: [AnyHashable: Any] {
    var values: [AnyHashable: Any] = [:]
    values["attenuationDurationThresholds"] = attenuationDurationThresholds?
      .map(NSNumber.init(value:))
    values["minimumRiskScoreFullRange"] = minimumRiskScoreFullRange.map(NSNumber.init(value:))
    return values
  }
}

/// A property name in JSON.
struct PropertyName: CodingKey {
  let stringValue: String
  let intValue: Int? = nil

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) { nil }
}
