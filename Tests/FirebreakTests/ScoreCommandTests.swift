// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite("firebreak score", .needs(.process))
struct ScoreCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func file(_ name: String, _ text: String) throws -> String {
    let url = folder.path(name)
    try text.write(to: url, atomically: true, encoding: .utf8)
    return url.path
  }

  /// A window with scans of five minutes at 40 dB.
  private func window(
    _ date: String = "2020-04-02", infectiousness: Int = 1, reportType: Int = 1, scans: Int = 1
  ) -> String {
    let scan =
      #"{"minimumAttenuation": 38, "typicalAttenuation": 40, "secondsSinceLastScan": 300}"#
    return """
      {"date": "\(date)", "calibrationConfidence": 3, "infectiousness": \(infectiousness),
       "diagnosisReportType": \(reportType),
       "scanInstances": [\(Array(repeating: scan, count: scans).joined(separator: ","))]}
      """
  }

  private func score(
    _ windows: String..., configuration: String = "{}", more: [String] = []
  ) async throws -> Run {
    try await Run(
      [
        "score", "--json", "--windows",
        try file("windows.json", "[\(windows.joined(separator: ","))]"), "--configuration",
        try file("configuration.json", configuration),
      ] + more)
  }

  private func days(_ run: Run) throws -> [[String: Any]] {
    try #require(run.status == 0, "\(run.errors)")
    return try #require(try run.json()?["daySummaries"] as? [[String: Any]])
  }

  private func sums(_ day: [String: Any], _ name: String) throws -> [Double] {
    let sums = try #require(day[name] as? [String: Double])
    return try ["maximumScore", "scoreSum", "weightedDurationSum"].map { try #require(sums[$0]) }
  }

  @Test("Three windows: highest score, sum and weighted duration in seconds, by report type")
  func sumsOfDay() async throws {
    let configuration =
      #"{"infectiousnessHighWeight": 200, "reportTypeSelfReportedWeight": 0}"#
    let days = try days(
      try await score(
        window(infectiousness: 2, scans: 10), window(scans: 6), window(reportType: 3, scans: 8),
        configuration: configuration))
    let day = try #require(days.first)
    #expect(days.count == 1)
    #expect(day["date"] as? String == "2020-04-02")
    #expect(try sums(day, "daySummary") == [6_000, 7_800, 7_200])
    #expect(try sums(day, "confirmedTestSummary") == [6_000, 7_800, 4_800])
    #expect(try sums(day, "selfReportedSummary") == [0, 0, 2_400])
    #expect(day.count == 4, "report types without windows are left out")
  }

  @Test("Days are sorted by date, and those older than the threshold are left out")
  func age() async throws {
    let windows = ["2020-04-03", "2020-04-01", "2020-04-02"].map { window($0) }
    func dates(_ more: String...) async throws -> [String] {
      try await days(
        score(
          windows[0], windows[1], windows[2],
          configuration: #"{"daysSinceLastExposureThreshold": 1}"#, more: more)
      ).compactMap { $0["date"] as? String }
    }
    #expect(try await dates() == ["2020-04-02", "2020-04-03"])
    #expect(try await dates("--today", "2020-04-04") == ["2020-04-03"])
    #expect(try await dates("--today", "2020-05-01").isEmpty)
  }

  @Test("Sums are rounded to minutes, or exact with --exact")
  func rounding() async throws {
    let configuration = #"{"immediateDurationWeight": 33}"#
    let rounded = try #require(try await days(score(window(), configuration: configuration)).first)
    #expect(try sums(rounded, "daySummary") == [120, 120, 120])
    let exact = try #require(
      try await days(score(window(), configuration: configuration, more: ["--exact"])).first)
    #expect(try sums(exact, "daySummary") == [99, 99, 99])
  }

  @Test(
    "Windows without infectiousness or with a revoked report do not count; no windows give no days")
  func nothing() async throws {
    #expect(try await days(score(window(infectiousness: 0), window(reportType: 5))).isEmpty)
    #expect(try await days(score()).isEmpty)
  }

  @Test("A window without report type counts as reportTypeNoneMap")
  func unstated() async throws {
    let day = try #require(
      try await days(score(window(reportType: 0), configuration: #"{"reportTypeNoneMap": 2}"#))
        .first)
    #expect(try sums(day, "confirmedClinicalDiagnosisSummary") == [300, 300, 300])
    #expect(
      try await days(score(window(reportType: 0), configuration: #"{"reportTypeNoneMap": 0}"#))
        .isEmpty)
  }

  @Test("Every property of the configuration is accepted by its name")
  func properties() async throws {
    let table = "[1, 2, 3, 4, 5, 6, 7, 8]"
    let configuration = """
      {"immediateDurationWeight": 100, "nearDurationWeight": 100, "mediumDurationWeight": 100,
       "otherDurationWeight": 0, "infectiousnessStandardWeight": 100,
       "infectiousnessHighWeight": 100, "reportTypeConfirmedTestWeight": 100,
       "reportTypeConfirmedClinicalDiagnosisWeight": 100, "reportTypeSelfReportedWeight": 100,
       "reportTypeRecursiveWeight": 100, "reportTypeNoneMap": 1,
       "infectiousnessForDaysSinceOnsetOfSymptoms": {"-14": 0, "0": 2, "unknown": 1},
       "attenuationDurationThresholds": [50, 70, 90], "daysSinceLastExposureThreshold": 14,
       "minimumRiskScoreFullRange": 0.5, "minimumRiskScore": 1,
       "attenuationLevelValues": \(table), "daysSinceLastExposureLevelValues": \(table),
       "durationLevelValues": \(table), "transmissionRiskLevelValues": \(table),
       "attenuationWeight": 1, "daysSinceLastExposureWeight": 1, "durationWeight": 1,
       "transmissionRiskWeight": 1, "metadata": {"minimumRiskScoreFullRange": 301}}
      """
    #expect(try await days(score(window(), configuration: configuration)).isEmpty)
  }

  @Test(
    "An invalid configuration is rejected with one line that names the field",
    arguments: [
      (#"{"nearDurationWeight": 251}"#, "nearDurationWeight"),
      (#"{"nearDurationWeight": "much"}"#, "nearDurationWeight"),
      (#"{"nearDurationWeigth": 100}"#, "nearDurationWeigth"),
      (#"{"attenuationDurationThresholds": [50, 70]}"#, "attenuationDurationThresholds"),
      (#"{"attenuationDurationThresholds": [70, 50, 90]}"#, "attenuationDurationThresholds"),
      (#"{"attenuationDurationThresholds": [70, "x", 90]}"#, "attenuationDurationThresholds"),
      (#"{"attenuationLevelValues": [1, 2, 3]}"#, "attenuationLevelValues"),
      (#"{"minimumRiskScore": 256}"#, "minimumRiskScore"),
      (#"{"minimumRiskScoreFullRange": -1}"#, "minimumRiskScoreFullRange"),
      (#"{"reportTypeNoneMap": 6}"#, "reportTypeNoneMap"),
      (#"{"daysSinceLastExposureThreshold": -1}"#, "daysSinceLastExposureThreshold"),
      (
        #"{"infectiousnessForDaysSinceOnsetOfSymptoms": {"15": 1}}"#,
        "infectiousnessForDaysSinceOnsetOfSymptoms"
      ),
      (#"{"metadata": 5}"#, "metadata"),
      (#"{"alertScore": 900}"#, "alertScore is read by firebreak trials only"),
      (#"{"nearDurationWeight": 50, "nearDurationWeight": 60}"#, "it has a field twice"),
      ("[]", "expected a JSON object"), ("{", "expected a JSON object"),
    ])
  func badConfigurations(configuration: String, field: String) async throws {
    let run = try await score(window(), configuration: configuration)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(field), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(
    "An invalid window is rejected with its index and field",
    arguments: [
      (#""2020-04-02""#, #""2020-02-30""#, "[1].date must be"),
      (#""2020-04-02""#, #""02.04.2020""#, "[1].date must be"),
      (#""infectiousness": 1"#, #""infectiousness": 3"#, "[1].infectiousness must be"),
      (#""infectiousness": 1,"#, "", "[1].infectiousness is missing"),
      (
        #""diagnosisReportType": 1"#, #""diagnosisReportType": 6"#,
        "[1].diagnosisReportType must be"
      ),
      (
        #""calibrationConfidence": 3"#, #""calibrationConfidence": -1"#, "[1].calibrationConfidence"
      ),
      (": 300", ": -60", "[1].scanInstances[0].secondsSinceLastScan must be"),
      (": 300", ": 86401", "[1].scanInstances[0].secondsSinceLastScan must be"),
      (": 40", ": 256", "[1].scanInstances[0].typicalAttenuation must be"),
      (#""minimumAttenuation": 38, "#, "", "[1].scanInstances[0].minimumAttenuation is missing"),
    ])
  func badWindows(part: String, replacement: String, expected: String) async throws {
    let run = try await score(window(), window().replacing(part, with: replacement))
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(expected), "\(run.errors)")
  }

  @Test("An invalid date and invalid or missing files are bad input")
  func badInput() async throws {
    #expect(try await score(window(), more: ["--today", "tomorrow"]).status == 2)
    let windows = try file("windows.json", "{}")
    let configuration = try file("configuration.json", "{}")
    #expect(
      try await Run("score", "--windows", windows, "--configuration", configuration).status == 2)
    #expect(try await Run("score", "--windows", windows).status == 2)
    let none = folder.path("none").path
    #expect(try await Run("score", "--windows", none, "--configuration", configuration).status == 2)
  }

  @Test("A field that is there twice, and a day with two names, are rejected")
  func ambiguous() async throws {
    let twice = window().replacing(
      #""infectiousness":"#, with: #""infectiousness": 0, "infectiousness":"#)
    #expect(throws: CommandFailure.self) { try WindowsJSON(decoding: Data("[\(twice)]".utf8)) }
    let run = try await Run(
      "score", "--windows", try file("windows.json", "[\(window())]"), "--configuration",
      try file(
        "configuration.json", #"{"infectiousnessForDaysSinceOnsetOfSymptoms": {"1": 1, "01": 2}}"#))
    #expect(run.status == 2 && run.errors.contains("each day once"), "\(run.errors)")
  }

  @Test("A file with more windows or a window with more scans than the limit is rejected")
  func limit() throws {
    let three = Data("[\(window()),\(window()),\(window())]".utf8)
    #expect(try WindowsJSON(decoding: three, windowCountMax: 4).windows.count == 3)
    #expect(try WindowsJSON(decoding: three, windowCountMax: 3).windows.count == 3)
    #expect(throws: CommandFailure.self) { try WindowsJSON(decoding: three, windowCountMax: 2) }
    for (scans, isAccepted) in [(1_799, true), (1_800, true), (1_801, false)] {
      let data = Data("[\(window(scans: scans))]".utf8)
      #expect(((try? WindowsJSON(decoding: data)) != nil) == isAccepted)
    }
  }
}
