// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import FieldTrials
import Foundation
import Terminal
import TextEncodings

/// A configuration of `--configuration`: that of `firebreak score`, with two more fields.
struct TrialConfigurationFile {
  /// The number of files.
  static let countMax = 100
  private static let alertField = "alertScore"
  private static let versionField = "apiVersion"

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
    let content = try InputFile(path, what: "configuration").content
    let failure = { (problem: String) in
      CommandFailure.badInput("\(path.printable): \(problem)")
    }
    guard case .object(var fields)? = JSONValue(json: content) else {
      throw failure("expected a JSON object of properties.")
    }
    let alert = fields.removeValue(forKey: Self.alertField)
    let version = fields.removeValue(forKey: Self.versionField)
    let properties = try ConfigurationJSON.read(
      Data(JSONValue.object(fields).text.utf8), path: path)
    guard let apiVersion = version.map(\.integer) ?? Self.apiVersion(of: fields),
      [1, 2].contains(apiVersion)
    else { throw failure("\(Self.versionField) must be 1 or 2.") }
    let threshold = try alert.map { value in
      guard let score = value.number, score >= 0 else {
        throw failure("\(Self.alertField) must be a number from 0.")
      }
      return AlertThreshold(score: score)
    }
    if apiVersion == 2 { _ = try WindowFileScoring(properties, file: path) }
    do throws(ENError) {
      configuration = try TrialConfiguration(
        name: name, source: path.printable, configuration: properties, apiVersion: apiVersion,
        alert: threshold ?? Self.assumedThreshold(properties, apiVersion))
    } catch {
      throw failure(error.localizedDescription)
    }
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
