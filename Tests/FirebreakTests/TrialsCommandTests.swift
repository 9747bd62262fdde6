// SPDX-License-Identifier: Apache-2.0
import Foundation
import RiskRules
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak trials", .needs(.process))
struct TrialsCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func file(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: folder.path(name))
    return folder.path(name).path
  }

  private func published(_ arguments: String...) async throws -> Run {
    try await Run(["trials", SharedData.url("fieldtrials").path] + arguments)
  }

  private func report(_ run: Run) throws -> NSDictionary {
    try #require(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    return try #require(try run.json())
  }

  private func ranks(_ report: NSDictionary) throws -> [String: NSDictionary] {
    let ranks = try #require(report["configurations"] as? [NSDictionary])
    return Dictionary(uniqueKeysWithValues: ranks.map { ($0["name"] as? String ?? "", $0) })
  }

  @Test(
    "--json prints the counts and the configurations, best first",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func json() async throws {
    let report = try report(try await published("--json"))
    #expect(report["trials"] as? Int == 9)
    #expect(report["phones"] as? Int == 111)
    #expect(report["sightings"] as? Int == 10_140)
    #expect(report["linesSkipped"] as? Int == 0)
    #expect(report["iPhonePower"] as? String == "setup")
    #expect((report["dropped"] as? NSDictionary)?["phonesIPhone"] as? Int == 11)
    let ranks = try #require(report["configurations"] as? [NSDictionary])
    let areas = ranks.compactMap { $0["auc"] as? Double }
    #expect(areas.count == 28 && areas == areas.sorted(by: >))
    #expect(areas[0] >= 0.97)
    #expect(ranks[0]["name"] as? String == "Koronavilkku 2")
    #expect(ranks[0]["positives"] as? Int == 58 && ranks[0]["negatives"] as? Int == 15)
    for rank in ranks {
      let area = try #require(rank["auc"] as? Double)
      #expect(try #require(rank["aucLow"] as? Double) <= area)
      #expect(try #require(rank["aucHigh"] as? Double) >= area)
      #expect((rank["alertScore"] is NSNull) == (rank["falseAlerts"] is NSNull))
    }
  }

  @Test(
    "A configuration from a file has the figures of the equal published one, and the seed repeats the intervals",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func configurations() async throws {
    let net = try file(
      "net.json",
      """
      {"attenuationDurationThresholds":[55,63,70],"immediateDurationWeight":150,"nearDurationWeight":100,
       "mediumDurationWeight":40,"otherDurationWeight":0,"infectiousnessStandardWeight":30}
      """)
    let italy = try file(
      "italy.json",
      """
      {"attenuationLevelValues":[0,0,3,3,3,3,3,3],"durationLevelValues":[0,0,0,0,5,5,5,5],"alertScore":12,
       "daysSinceLastExposureLevelValues":[1,1,1,1,1,1,1,1],"transmissionRiskLevelValues":[1,1,1,1,1,1,1,1]}
      """)
    let arguments = [
      "--configuration", net, "--configuration", italy, "--samples", "500", "--json",
    ]
    let run = try await Run(
      ["trials", SharedData.url("fieldtrials").path] + arguments + ["--seed", "5"])
    let all = try ranks(report(run))
    #expect(all.count == 30)
    for (own, published) in [("net", "narrow net 1"), ("italy", "Immuni")] {
      for field in ["auc", "aucLow", "aucHigh", "falseAlerts", "missedAlerts", "apiVersion"] {
        #expect(all[own]?[field] as? NSNumber == all[published]?[field] as? NSNumber, "\(field)")
      }
    }
    #expect(all["net"]?["alertScoreIsAssumed"] as? Bool == true)
    #expect(all["italy"]?["alertScoreIsAssumed"] as? Bool == false)
    let again = try await Run(
      ["trials", SharedData.url("fieldtrials").path] + arguments + ["--seed", "5"])
    #expect(again.output == run.output)
    let other = try await Run(
      ["trials", SharedData.url("fieldtrials").path] + arguments + ["--seed", "6"])
    #expect(other.output != run.output)
  }

  @Test(
    "The rules of a phone from a file have the figures of the equal published ones",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func rules() async throws {
    var rules = WindowRiskConfiguration.standard
    func range(_ min: Double, _ max: Double) -> PolicyRange {
      PolicyRange(min: min, max: max, maxExclusive: true)
    }
    rules.policy.minutesAtAttenuationWeights = [
      .init(attenuationRange: range(0, 63), weight: 0.8),
      .init(attenuationRange: range(63, 73), weight: 1),
      .init(attenuationRange: range(73, 79), weight: 0.1),
    ]
    rules.policy.normalizedTimePerDayToRiskLevelMapping = [
      .init(normalizedTimeRange: range(5, 9), riskLevel: .low),
      .init(normalizedTimeRange: range(9, 9_999), riskLevel: .high),
    ]
    rules.policy.transmissionRiskValueMapping = [
      .init(transmissionRiskLevel: 8, transmissionRiskValue: 1.6)
    ]
    let own = folder.path("own.json")
    try JSONEncoder().encode(rules).write(to: own)
    let all = try ranks(report(try await published("--configuration", own.path, "--json")))
    for field in ["auc", "aucLow", "aucHigh", "alertScore", "falseAlerts", "missedAlerts"] {
      let expected = try #require(all["Corona-Warn-App 2.0"]?[field] as? NSNumber)
      #expect(all["own"]?[field] as? NSNumber == expected, "\(field)")
    }
    #expect(all["own"]?["apiVersion"] as? Int == 2)
    #expect(all["own"]?["alertScoreIsAssumed"] as? Bool == false)
  }

  @Test(
    "--sweep prints all combinations; with --learn only held-out figures are printed",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func sweep() async throws {
    let sweep = try file(
      "sweep.json",
      """
      {"thresholds": [[50, 55], {"from": 60, "to": 65, "step": 5}, 70],
       "weights": [[100, 150], 100, {"from": 0, "to": 50, "step": 25}, 0]}
      """)
    let swept = try report(try await published("--sweep", sweep, "--json"))
    let rows = try #require((swept["sweep"] as? NSDictionary)?["rows"] as? [NSDictionary])
    #expect(rows.count == 24 && swept["learned"] == nil)
    let learned = try report(try await published("--sweep", sweep, "--learn", "--json"))
    #expect(learned["sweep"] == nil)
    let fit = try #require(learned["learned"] as? NSDictionary)
    #expect(fit["combinations"] as? Int == 24)
    #expect((fit["folds"] as? [NSDictionary])?.count == 9)
    let area = try #require(fit["heldOutAuc"] as? Double)
    let best = try #require(rows.first?["auc"] as? Double)
    #expect(area > 0.8 && area <= best)
    let text = try await published("--sweep", sweep)
    #expect(text.output.contains("Sweep: 24 combinations, 0 skipped"))
    let table = try await published("--learn")
    #expect(table.output.contains("held-out AUC 0."))
  }

  @Test(
    "--windows writes what firebreak score reads, with the score of the ranking",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func windows() async throws {
    let run = try await published(
      "--windows", folder.path("w.json").path, "--per-phone", folder.path("p.csv").path, "--report",
      folder.path("r.html").path)
    #expect(run.status == 0 && run.errors.isEmpty)
    let all = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: folder.path("w.json")))
        as? [NSDictionary])
    let own = all.filter {
      $0["trial"] as? String == "train_1" && $0["phone"] as? String == "05"
    }
    #expect(!own.isEmpty && own.allSatisfy { $0["alert"] as? String == "high" })
    try JSONSerialization.data(withJSONObject: own).write(to: folder.path("own.json"))
    let net = try file(
      "net.json",
      """
      {"attenuationDurationThresholds":[55,63,70],"immediateDurationWeight":150,"nearDurationWeight":100,
       "mediumDurationWeight":40,"otherDurationWeight":0}
      """)
    let score = try await Run(
      "score", "--windows", folder.path("own.json").path, "--configuration", net, "--exact",
      "--json")
    let days = try #require(try score.json()?["daySummaries"] as? [NSDictionary])
    let sum = try #require((days[0]["daySummary"] as? NSDictionary)?["scoreSum"] as? Double)
    let lines = try String(contentsOf: folder.path("p.csv"), encoding: .utf8)
      .split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(lines.count == 112)
    let column = try #require(lines[0].firstIndex(of: "narrow net 1"))
    let row = try #require(lines.first { $0[0] == "train_1" && $0[1] == "05" })
    #expect(Double(row[column]) == sum && sum > 0)
    #expect(try String(contentsOf: folder.path("r.html"), encoding: .utf8).hasSuffix("</html>\n"))
  }

  @Test("The table shows the groups and every configuration")
  func table() async throws {
    let trial = folder.path("a_1")
    try FileManager.default.createDirectory(at: trial, withIntermediateDirectories: true)
    let information =
      "{\"testId\":\"a\",\"startTime\":\"2021-03-01T09:00:00-05\","
      + "\"stopTime\":\"2021-03-01T10:00:00-05\",\"details\":[]}"
    try Data(information.utf8).write(to: trial.appendingPathComponent("a_1_info.json"))
    let run = try await Run("trials", folder.url.path)
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.output.contains("0 phones with a high alert, 0 without alert; 0 with a low alert"))
    #expect(run.output.contains("configuration         version  AUC"))
    #expect(run.output.contains("narrow net 1          2        -"))
    #expect(run.output.contains("files missing, too large or damaged: 1"))
    let learn = try await Run("trials", folder.url.path, "--learn")
    #expect(learn.status == 2 && learn.output.isEmpty)
    #expect(learn.errors.contains("name a folder with more trials"))
  }

  @Test("A missing or empty folder ends with 2 and one line")
  func badFolder() async throws {
    for path in [folder.url.path, folder.path("none").path] {
      let run = try await Run("trials", path, "--json")
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1)
      #expect(run.errors.contains("name "))
    }
  }

  @Test(
    "An invalid configuration or sweep is named with its field, and nothing is written",
    arguments: [
      ("--configuration", "[]", "expected a JSON object of properties"),
      ("--configuration", #"{"nearWeight": 1}"#, "nearWeight is not a property"),
      ("--configuration", #"{"nearDurationWeight": 251}"#, "nearDurationWeight needs"),
      ("--configuration", #"{"alertScore": -1}"#, "alertScore must be a number from 0"),
      ("--configuration", #"{"apiVersion": 3}"#, "apiVersion must be 1 or 2"),
      ("--configuration", #"{"alertScore": 900, "alertScore": 5}"#, "it has a field twice"),
      ("--configuration", #"{"policy": {}}"#, "is missing"),
      ("--configuration", #"{"policy": {}, "apiVersion": 1}"#, "a policy is of version 2"),
      ("--sweep", "[]", "expected a JSON object"),
      ("--sweep", #"{"thresholds": [1, 2, 3]}"#, "weights is missing"),
      (
        "--sweep", #"{"thresholds": [1, 2], "weights": [1, 2, 3, 4]}"#,
        "thresholds needs a list of 3"
      ),
      ("--sweep", #"{"thresholds": [1, 2, "a"], "weights": [1, 2, 3, 4]}"#, "thresholds[2]"),
      (
        "--sweep", #"{"thresholds": [1, 2, 3], "weights": [1, 2, 3, 4], "a": 1}"#,
        "a is not a field"
      ),
      (
        "--sweep", #"{"thresholds": [1, 2, 3], "weights": [1, 2, 3, 4], "weights": [4, 3, 2, 1]}"#,
        "it has a field twice"
      ),
    ])
  func invalid(option: String, content: String, problem: String) async throws {
    let path = try file("in.json", content)
    let csv = folder.path("out.csv")
    let run = try await Run("trials", folder.url.path, option, path, "--per-phone", csv.path)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains("in.json: ") && run.errors.contains(problem), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: csv.path))
  }

  @Test("A result that cannot be written is named before the trials are read")
  func unwritable() async throws {
    for option in ["--per-phone", "--windows", "--report"] {
      let run = try await Run("trials", folder.url.path, option, folder.path("no/file").path)
      #expect(run.status == 2 && run.errors.contains("existing folder with \(option)"))
    }
    let same = try await Run(
      "trials", folder.url.path, "--report", folder.path("a").path, "--windows",
      folder.path("a").path)
    #expect(same.status == 2 && same.errors.contains("same file"))
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
    let linked = try await Run(
      "trials", folder.url.path, "--report", folder.path("a").path, "--windows",
      link.appendingPathComponent("a").path)
    #expect(linked.status == 2 && linked.errors.contains("same file"))
    let sweep = try file("sweep.json", "{}")
    let input = try await Run(
      "trials", folder.url.path, "--sweep", sweep, "--windows",
      link.appendingPathComponent("sweep.json").path)
    #expect(input.status == 2 && input.errors.contains("would be replaced"), "\(input.errors)")
    #expect(try String(contentsOfFile: sweep, encoding: .utf8) == "{}")
    let linkToInput = folder.path("linked.json")
    try FileManager.default.createSymbolicLink(
      atPath: linkToInput.path, withDestinationPath: "sweep.json")
    let target = try await Run(
      "trials", folder.url.path, "--sweep", linkToInput.path, "--windows", sweep)
    #expect(target.status == 2 && target.errors.contains("would be replaced"), "\(target.errors)")
    for name in ["a_info.json", "a_setup.json", "a_dumpsys.txt"] {
      let recording = try file(name, "{}")
      let run = try await Run("trials", folder.url.path, "--report", recording)
      #expect(run.status == 2 && run.errors.contains("would be replaced"), "\(run.errors)")
    }
    // Root would replace the link for the whole system, so the test has one of its own.
    let output = folder.path("output")
    try FileManager.default.createSymbolicLink(
      atPath: output.path, withDestinationPath: "/proc/self/fd/1")
    let pipe = try await Run("trials", folder.url.path, "--report", output.path)
    #expect(pipe.status == 2 && pipe.errors.contains("is a device or a pipe"), "\(pipe.errors)")
    let samples = try await Run("trials", folder.url.path, "--samples", "99")
    #expect(samples.status == 2 && samples.errors.contains("--samples needs a number from 100"))
  }
}
