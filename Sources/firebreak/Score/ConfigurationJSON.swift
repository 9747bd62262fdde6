import ExposureNotification
import Foundation

/// An exposure configuration in JSON: property names as they are in Apple's framework.
///
/// Documentation/CommandLine.md 4.3. What is not a property is refused: a weight that is misspelt and
/// silently at its default would spoil a study.
struct ConfigurationJSON: Decodable {
  let configuration: ENExposureConfiguration

  /// Reads the file at `path`, or says which property is wrong.
  static func read(_ path: String) throws -> ENExposureConfiguration {
    let content = try InputFile(path, what: "configuration").content
    do {
      return try JSONDecoder().decode(Self.self, from: content).configuration
    } catch let error as DecodingError {
      let otherwise = "it is no JSON object of properties."
      throw CommandFailure.badInput("\(path.printable): \(error.sentence(otherwise: otherwise))")
    } catch let failure as CommandFailure {
      throw CommandFailure.badInput("\(path.printable): \(failure.sentence)")
    }
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: PropertyName.self)
    configuration = ENExposureConfiguration()
    for name in fields.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      if let weight = Self.numbers[name.stringValue] {
        configuration[keyPath: weight] = try fields.checked(name, "needs a number") { $0 }
      } else if let list = Self.lists[name.stringValue] {
        configuration[keyPath: list] = try fields.checked(name, "needs a list of numbers") {
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
        name, "needs a whole number from 0 to 255", ENRiskScore.init(exactly:) as (Int) -> UInt8?)
    case "daysSinceLastExposureThreshold":
      configuration.daysSinceLastExposureThreshold = try fields.checked(
        name, "needs a whole number of days"
      ) { $0 }
    case "reportTypeNoneMap":
      configuration.reportTypeNoneMap = try fields.checked(
        name, "needs a whole number from 0 to 5", ENDiagnosisReportType.init)
    case "infectiousnessForDaysSinceOnsetOfSymptoms":
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = try fields.checked(
        name, "needs days from -14 to 14, or \"unknown\", each with 0, 1 or 2",
        InfectiousnessMap.numbers)
    case "metadata":
      configuration.metadata = try fields.checked(name, "needs an object of the two old fields") {
        (metadata: MetadataJSON) in metadata.values
      }
    default:
      throw CommandFailure.badInput(
        "\(name.stringValue.printable) is no property of ENExposureConfiguration: correct its name."
      )
    }
  }
}
