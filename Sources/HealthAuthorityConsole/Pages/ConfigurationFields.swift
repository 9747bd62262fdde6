// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI
import TextEncodings

/// The numbers of a remote configuration as labelled fields of a form. The other parts stay as they are.
struct ConfigurationFields: Sendable {
  /// A number of the configuration.
  struct Field: Sendable {
    /// The names of the objects that it is in, and its own.
    let path: [String]
    /// The place in a table of numbers; nil for a single number.
    var place: Int?
    let label: Label
    let limits: ClosedRange<Int>
    var unit = Unit.points

    /// The name of the field in the form.
    var name: String { (path + [place.map { "\($0)" }].compactMap { $0 }).joined(separator: ".") }
  }

  /// The unit of a number.
  enum Unit: Sendable {
    case points, times, decibels, seconds

    func text(_ texts: Texts) -> String {
      switch self {
      case .points: texts[.fieldsPoints]
      case .times: texts[.fieldsTimes]
      case .decibels: "dB"
      case .seconds: "s"
      }
    }
  }

  /// The label of a field.
  enum Label: Sendable {
    case text(TextKey)
    /// A text with a value in it, such as a range of days.
    case value(TextKey, String)
    /// A text of no language, such as a range with its unit.
    case plain(String)

    func text(_ texts: Texts) -> String {
      switch self {
      case .text(let key): texts[key]
      case .value(let key, let value): texts[key, value]
      case .plain(let text): text
      }
    }
  }

  /// Fields with a common heading and an explanation.
  struct Group: Sendable {
    let title: TextKey
    let help: TextKey
    let fields: [Field]
  }

  static let all = [thresholds, attenuation, days, duration, transmission, ranges, download]

  private static let risk = "riskLevelConfiguration"
  private static let exposure = "exposureConfiguration"

  private static let thresholds = Group(
    title: .fieldsThresholds, help: .fieldsThresholdsHelp,
    fields: [
      Field(
        path: [risk, "maxNoRiskScore"], label: .text(.fieldsMaxNone), limits: 0...4_096),
      Field(path: [risk, "maxLowRiskScore"], label: .text(.fieldsMaxLow), limits: 0...4_096),
      Field(
        path: [risk, "maxMiddleRiskScore"], label: .text(.fieldsMaxMedium), limits: 0...4_096),
      Field(
        path: [exposure, "minimumRiskScore"], label: .text(.fieldsMinimum), limits: 0...255),
    ])

  private static let attenuation = table(
    "attenuationScores", .fieldsAttenuation, .fieldsAttenuationHelp,
    ["> 73 dB", "64–73 dB", "52–63 dB", "34–51 dB", "28–33 dB", "16–27 dB", "11–15 dB", "≤ 10 dB"]
      .map { .plain($0) })

  private static let days = table(
    "daysSinceLastExposureScores", .fieldsDays, .fieldsDaysHelp,
    ["≥ 14", "12–13", "10–11", "8–9", "6–7", "4–5", "2–3", "0–1"].map { .value(.fieldsDay, $0) })

  private static let duration = table(
    "durationScores", .fieldsDuration, .fieldsDurationHelp,
    ["0 min", "≤ 5 min", "≤ 10 min", "≤ 15 min", "≤ 20 min", "≤ 25 min", "≤ 30 min", "> 30 min"]
      .map { .plain($0) })

  private static let transmission = table(
    "transmissionRiskScores", .fieldsTransmission, .fieldsTransmissionHelp,
    (1...8).map { .value(.fieldsLevel, "\($0)") })

  private static let ranges = Group(
    title: .fieldsRanges, help: .fieldsRangesHelp,
    fields: [TextKey.fieldsNear, .fieldsMedium].enumerated().map { place, key in
      Field(
        path: [exposure, "durationAtAttenuationThresholds"], place: place, label: .text(key),
        limits: 0...255, unit: .decibels)
    })

  private static let download = Group(
    title: .fieldsDownload, help: .fieldsDownloadHelp,
    fields: [
      Field(
        path: ["diagnosisKeyDownloadConfiguration", "timeoutMobileSeconds"],
        label: .text(.fieldsMobile), limits: 1...3_600, unit: .seconds),
      Field(
        path: ["diagnosisKeyDownloadConfiguration", "timeoutWifiSeconds"],
        label: .text(.fieldsWifi), limits: 1...3_600, unit: .seconds),
      Field(
        path: ["diagnosisKeyDownloadConfiguration", "retryCount"], label: .text(.fieldsRetries),
        limits: 0...10, unit: .times),
    ])

  private static func table(
    _ name: String, _ title: TextKey, _ help: TextKey, _ labels: [Label]
  ) -> Group {
    Group(
      title: title, help: help,
      fields: labels.enumerated().map { place, label in
        Field(path: [exposure, name], place: place, label: label, limits: 0...8)
      })
  }

  // MARK: - The form

  /// The first field whose value is no whole number within its limits.
  struct Fault: Error {
    let group: Group
    let field: Field

    func text(_ texts: Texts) -> String {
      texts[
        .fieldsBadNumber, "\(texts[group.title]), \(field.label.text(texts))",
        "\(field.limits.lowerBound)", "\(field.limits.upperBound)"]
    }
  }

  /// The document of `configuration` with the numbers of a form.
  static func document(
    _ form: Form, replacing configuration: RemoteConfiguration
  ) throws -> String {
    var document = try JSONValue(encoding: configuration)
    for group in all {
      for field in group.fields {
        guard let number = Int(form[field.name]), field.limits.contains(number) else {
          throw Fault(group: group, field: field)
        }
        document = document.replacing(field.path[...], field.place, with: .integer(number))
      }
    }
    return document.text
  }

  /// The values of the fields for a page: those of `typed`, or else of `configuration`.
  static func values(
    of configuration: RemoteConfiguration, typed: Form?, _ texts: Texts
  ) throws -> [[String: Any]] {
    let document = try JSONValue(encoding: configuration)
    return all.map { group in
      [
        "title": texts[group.title], "help": texts[group.help],
        "isTable": group.fields.count == 8,
        "fields": group.fields.map { field in
          [
            "name": field.name, "label": field.label.text(texts),
            "unit": field.unit.text(texts),
            "least": "\(field.limits.lowerBound)", "most": "\(field.limits.upperBound)",
            "value": typed.map { $0[field.name] } ?? document.number(field.path, field.place),
          ]
        },
      ]
    }
  }
}

extension JSONValue {
  /// The number at a path as text; empty if there is none.
  fileprivate func number(_ path: [String], _ place: Int?) -> String {
    var value = self
    for name in path {
      guard case .object(let fields) = value, let next = fields[name] else { return "" }
      value = next
    }
    if let place {
      guard case .array(let elements) = value, elements.indices.contains(place) else { return "" }
      value = elements[place]
    }
    return value.integer.map { "\($0)" } ?? ""
  }

  /// The value with another number at a path.
  fileprivate func replacing(
    _ path: ArraySlice<String>, _ place: Int?, with number: JSONValue
  ) -> JSONValue {
    guard let name = path.first else {
      guard let place, case .array(var elements) = self, elements.indices.contains(place) else {
        return number
      }
      elements[place] = number
      return .array(elements)
    }
    guard case .object(var fields) = self else { return self }
    fields[name] = (fields[name] ?? .null).replacing(path.dropFirst(), place, with: number)
    return .object(fields)
  }
}
