// SPDX-License-Identifier: Apache-2.0

/// The rules of apps with ENAPIVersion 2: the framework's parameters for exposure windows and daily
/// summaries, and the policy that evaluates the windows.
///
/// Unlike the rest of a remote configuration it is decoded strictly: each part except the policy's filters
/// changes the risk that users are told.
public struct WindowRiskConfiguration: Codable, Hashable, Sendable {
  /// The policy that turns the windows of a day into a risk level.
  public var policy: WindowRiskPolicy
  /// The infectiousness (0 none, 1 standard, 2 high) by days since the onset of symptoms, `-14` to `14`, or
  /// `unknown`. A missing day counts as 0. Phones use a changed map at most once a week.
  public var infectiousnessForDaysSinceOnsetOfSymptoms: [String: Int]
  /// The report type of keys without one, 0...5; 0 ignores such keys.
  public var reportTypeNoneMap: Int
  /// The framework's daily summaries.
  public var daySummaries: DaySummaryParameters

  /// Creates a configuration.
  public init(
    policy: WindowRiskPolicy, infectiousnessForDaysSinceOnsetOfSymptoms: [String: Int],
    reportTypeNoneMap: Int = 1, daySummaries: DaySummaryParameters = .standard
  ) {
    self.policy = policy
    self.infectiousnessForDaysSinceOnsetOfSymptoms = infectiousnessForDaysSinceOnsetOfSymptoms
    self.reportTypeNoneMap = reportTypeNoneMap
    self.daySummaries = daySummaries
  }

  /// The name of an unknown onset in `infectiousnessForDaysSinceOnsetOfSymptoms`.
  public static let unknownOnset = "unknown"

  /// A sentence that names the first field with an invalid value, or nil.
  package var fault: String? {
    let map = "infectiousnessForDaysSinceOnsetOfSymptoms"
    let values = infectiousnessForDaysSinceOnsetOfSymptoms
    guard values.values.contains(where: { $0 > 0 }) else {
      return "\(map) must have a day above 0; without one, version 2 detects nothing."
    }
    for (day, value) in values.sorted(by: { $0.key < $1.key }) {
      let isDay =
        day == Self.unknownOnset
        || Int(day).map { (-14...14).contains($0) && "\($0)" == day } ?? false
      guard isDay, (0...2).contains(value) else {
        return "\(map) must map days from -14 to 14, or \"unknown\", to 0, 1 or 2."
      }
    }
    if !(0...5).contains(reportTypeNoneMap) { return "reportTypeNoneMap must be 0 to 5." }
    return policy.validationError.map { "policy.\($0)" }
      ?? daySummaries.fault.map { "daySummaries.\($0)" }
  }
}

/// The framework's parameters for daily summaries; the names are those of Apple's `ENExposureConfiguration`.
public struct DaySummaryParameters: Codable, Hashable, Sendable {
  /// The ends of the immediate, near and medium ranges, in dB, ascending.
  public var attenuationDurationThresholds: [Int]
  /// The weight of time in the immediate range, in percent, 0...250.
  public var immediateDurationWeight: Double
  /// The weight of time in the near range.
  public var nearDurationWeight: Double
  /// The weight of time in the medium range.
  public var mediumDurationWeight: Double
  /// The weight of time beyond the last threshold.
  public var otherDurationWeight: Double
  /// The weight of standard infectiousness.
  public var infectiousnessStandardWeight: Double
  /// The weight of high infectiousness.
  public var infectiousnessHighWeight: Double
  /// The weight of laboratory tests.
  public var reportTypeConfirmedTestWeight: Double
  /// The weight of doctors' diagnoses.
  public var reportTypeConfirmedClinicalDiagnosisWeight: Double
  /// The weight of self-reports.
  public var reportTypeSelfReportedWeight: Double
  /// The lowest score of a window in a summary, 0...32812.5.
  public var minimumRiskScoreFullRange: Double
  /// The age in days up to which windows count, 0...14; 0 for no limit.
  public var daysSinceLastExposureThreshold: Int

  /// Apple's defaults.
  public static let standard = DaySummaryParameters()

  /// The range of `minimumRiskScoreFullRange`, up to the highest score of a window.
  public static let minimumScores = 0...32_812.5

  private init() {
    attenuationDurationThresholds = [50, 70, 90]
    immediateDurationWeight = 100
    nearDurationWeight = 100
    mediumDurationWeight = 100
    otherDurationWeight = 100
    infectiousnessStandardWeight = 100
    infectiousnessHighWeight = 100
    reportTypeConfirmedTestWeight = 100
    reportTypeConfirmedClinicalDiagnosisWeight = 100
    reportTypeSelfReportedWeight = 100
    minimumRiskScoreFullRange = 0
    daysSinceLastExposureThreshold = 0
  }

  /// A sentence that names the first field with an invalid value, or nil.
  package var fault: String? {
    let thresholds = attenuationDurationThresholds
    guard thresholds.count == 3, thresholds.allSatisfy((0...255).contains),
      thresholds == thresholds.sorted()
    else { return "attenuationDurationThresholds must hold 3 ascending values from 0 to 255." }
    let weights = [
      ("immediateDurationWeight", immediateDurationWeight),
      ("nearDurationWeight", nearDurationWeight),
      ("mediumDurationWeight", mediumDurationWeight),
      ("otherDurationWeight", otherDurationWeight),
      ("infectiousnessStandardWeight", infectiousnessStandardWeight),
      ("infectiousnessHighWeight", infectiousnessHighWeight),
      ("reportTypeConfirmedTestWeight", reportTypeConfirmedTestWeight),
      ("reportTypeConfirmedClinicalDiagnosisWeight", reportTypeConfirmedClinicalDiagnosisWeight),
      ("reportTypeSelfReportedWeight", reportTypeSelfReportedWeight),
    ]
    for (name, weight) in weights where !(0...250).contains(weight) {
      return "\(name) must be 0 to 250."
    }
    if !Self.minimumScores.contains(minimumRiskScoreFullRange) {
      return "minimumRiskScoreFullRange must be 0 to \(Self.minimumScores.upperBound)."
    }
    return (0...14).contains(daysSinceLastExposureThreshold)
      ? nil : "daysSinceLastExposureThreshold must be 0 to 14."
  }
}

extension DaySummaryParameters {
  /// - Throws: `DecodingError` that names the field; Foundation names none if an integer has a fraction.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    attenuationDurationThresholds = try fields.decode(
      [Int].self, forKey: .attenuationDurationThresholds)
    immediateDurationWeight = try fields.decode(Double.self, forKey: .immediateDurationWeight)
    nearDurationWeight = try fields.decode(Double.self, forKey: .nearDurationWeight)
    mediumDurationWeight = try fields.decode(Double.self, forKey: .mediumDurationWeight)
    otherDurationWeight = try fields.decode(Double.self, forKey: .otherDurationWeight)
    infectiousnessStandardWeight = try fields.decode(
      Double.self, forKey: .infectiousnessStandardWeight)
    infectiousnessHighWeight = try fields.decode(Double.self, forKey: .infectiousnessHighWeight)
    reportTypeConfirmedTestWeight = try fields.decode(
      Double.self, forKey: .reportTypeConfirmedTestWeight)
    reportTypeConfirmedClinicalDiagnosisWeight = try fields.decode(
      Double.self, forKey: .reportTypeConfirmedClinicalDiagnosisWeight)
    reportTypeSelfReportedWeight = try fields.decode(
      Double.self, forKey: .reportTypeSelfReportedWeight)
    minimumRiskScoreFullRange = try fields.decode(Double.self, forKey: .minimumRiskScoreFullRange)
    let days = try fields.decode(Double.self, forKey: .daysSinceLastExposureThreshold)
    guard let days = Int(exactly: days) else {
      throw DecodingError.dataCorruptedError(
        forKey: .daysSinceLastExposureThreshold, in: fields,
        debugDescription: "must be a whole number")
    }
    daysSinceLastExposureThreshold = days
  }
}

extension WindowRiskConfiguration {
  /// The rules of a phone that has no others: a quarter of an hour within about two metres is a high risk,
  /// five minutes are a low one.
  public static let standard = WindowRiskConfiguration(
    policy: .standard,
    infectiousnessForDaysSinceOnsetOfSymptoms: Dictionary(
      uniqueKeysWithValues: (-14...14).map { ("\($0)", abs($0) <= 2 ? 2 : 1) } + [
        (unknownOnset, 1)
      ]))
}

extension WindowRiskPolicy {
  /// Minutes below 63 dB count fully and minutes from 63 to 73 dB half, for every report type.
  public static let standard: WindowRiskPolicy = {
    func range(_ min: Double, _ max: Double) -> PolicyRange {
      PolicyRange(min: min, max: max, maxExclusive: true)
    }
    let levels = [
      LevelMapping(normalizedTimeRange: range(5, 15), riskLevel: .low),
      LevelMapping(normalizedTimeRange: range(15, 10_000), riskLevel: .high),
    ]
    return WindowRiskPolicy(
      minutesAtAttenuationWeights: [
        AttenuationWeight(attenuationRange: range(0, 63), weight: 1),
        AttenuationWeight(attenuationRange: range(63, 73), weight: 0.5),
      ],
      normalizedTimePerEWToRiskLevelMapping: levels,
      normalizedTimePerDayToRiskLevelMapping: levels,
      trlEncoding: TransmissionRiskEncoding(
        infectiousnessOffsetStandard: 1, infectiousnessOffsetHigh: 2, reportTypeOffsetRecursive: 0,
        reportTypeOffsetSelfReport: 2, reportTypeOffsetConfirmedClinicalDiagnosis: 4,
        reportTypeOffsetConfirmedTest: 6),
      transmissionRiskValueMapping: (1...8).map {
        TransmissionRiskValue(transmissionRiskLevel: $0, transmissionRiskValue: 1)
      })
  }()
}
