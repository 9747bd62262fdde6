// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import FieldTrials
import Foundation
import RiskRules
import Terminal
import TextEncodings

/// A configuration of `--configuration`: that of `firebreak score`, or the rules of a phone for exposure
/// windows; with two more fields.
struct TrialConfigurationFile {
  /// The number of files.
  static let countMax = 100
  private static let alertField = "alertScore"
  private static let versionField = "apiVersion"
  /// The field of a phone's rules that the framework's properties do not have.
  private static let policyField = "policy"

  let configuration: TrialConfiguration

  /// The published configurations, then those of the files at `paths`.
  ///
  /// - Throws: `CommandFailure` that names the file and the invalid property.
  static func all(_ paths: [String]) throws -> [TrialConfiguration] {
    guard paths.count <= countMax else {
      throw CommandFailure.badInput("--configuration may be given at most \(countMax) times.")
    }
    var all = try TrialConfiguration.published()
    for (index, path) in paths.enumerated() {
      guard !paths[..<index].contains(path) else {
        throw CommandFailure.badInput("\(path.printable) is given twice: remove one.")
      }
      let stem = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
      let name = all.contains(where: { $0.name == stem }) ? path : stem
      all.append(try Self(path, name: name.printable).configuration)
    }
    return all
  }

  private init(_ path: String, name: String) throws {
    let file = try InputFile(path, what: "configuration")
    let failure = { (problem: String) in
      CommandFailure.badInput("\(path.printable): \(problem)")
    }
    guard case .object(var fields)? = JSONValue(json: file.content) else {
      throw failure("expected a JSON object of properties.")
    }
    guard file.isUnambiguousJSON else { throw failure(InputFile.ambiguity) }
    let alert = fields.removeValue(forKey: Self.alertField)
    let version = fields.removeValue(forKey: Self.versionField)
    let threshold = try alert.map { value in
      guard let score = value.number, score >= 0 else {
        throw failure("\(Self.alertField) must be a number from 0.")
      }
      return AlertThreshold(score: score)
    }
    let apiVersion = version.map(\.integer) ?? Self.apiVersion(of: fields)
    guard let apiVersion, [1, 2].contains(apiVersion) else {
      throw failure("\(Self.versionField) must be 1 or 2.")
    }
    let read = fields[Self.policyField] == nil ? Self.properties : Self.rules
    configuration = try read(
      Source(path: path, name: name, fields: fields, apiVersion: apiVersion, alert: threshold))
  }

  /// The parts of a file.
  private struct Source {
    let path: String
    let name: String
    /// The fields without those of trials.
    let fields: [String: JSONValue]
    let apiVersion: Int
    let alert: AlertThreshold?

    var content: Data { Data(JSONValue.object(fields).text.utf8) }

    func failure(_ problem: String) -> CommandFailure {
      CommandFailure.badInput("\(path.printable): \(problem)")
    }
  }

  /// The properties of Apple's framework.
  private static func properties(_ source: Source) throws -> TrialConfiguration {
    let properties = try ConfigurationJSON.read(source.content, path: source.path)
    if source.apiVersion == 2 { _ = try WindowFileScoring(properties, file: source.path) }
    do throws(ENError) {
      return try TrialConfiguration(
        name: source.name, source: source.path.printable, configuration: properties,
        apiVersion: source.apiVersion,
        alert: source.alert ?? assumedThreshold(properties, source.apiVersion))
    } catch {
      throw source.failure(error.localizedDescription)
    }
  }

  /// The rules of a phone: a policy, and values that do not matter for trials.
  private static func rules(_ source: Source) throws -> TrialConfiguration {
    guard source.apiVersion == 2 else {
      throw source.failure("a policy is of version 2: remove \(versionField).")
    }
    let rules: WindowRiskConfiguration
    do {
      rules = try JSONDecoder().decode(WindowRiskConfiguration.self, from: source.content)
    } catch let error as DecodingError {
      throw source.failure(error.message(otherwise: "expected a JSON object of rules."))
    }
    if let fault = rules.fault { throw source.failure(fault) }
    return try TrialConfiguration(
      name: source.name, source: source.path.printable, policy: rules.policy, alert: source.alert)
  }

  /// Version 1 if there are level tables and no weights of version 2.
  private static func apiVersion(of fields: [String: JSONValue]) -> Int {
    let hasTable = fields.keys.contains { $0.hasSuffix("LevelValues") }
    let hasWeight = fields.keys.contains { $0.hasSuffix("DurationWeight") }
    return hasTable && !hasWeight ? 1 : 2
  }

  /// The threshold of a file that states none: 15 weighted minutes, or the minimum score of version 1.
  private static func assumedThreshold(
    _ configuration: ENExposureConfiguration, _ apiVersion: Int
  ) -> AlertThreshold? {
    if apiVersion == 2 {
      return AlertThreshold(score: AlertThreshold.fifteenMinutes.score, isAssumed: true)
    }
    let minimum = configuration.minimumRiskScoreFullRange
    return minimum > 0 ? AlertThreshold(score: minimum, isAssumed: true) : nil
  }
}
