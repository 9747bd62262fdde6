// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak trials", .needs(.process))
struct TrialsCommandTests {
  @Test(
    "--json prints the counts and the configurations, best first",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func json() async throws {
    let run = try await Run("trials", "--json", SharedData.url("fieldtrials").path)
    let report = try #require(try run.json())
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(report["trials"] as? Int == 9)
    #expect(report["phones"] as? Int == 111)
    #expect(report["sightings"] as? Int == 10_140)
    #expect(report["linesSkipped"] as? Int == 0)
    let ranks = try #require(report["configurations"] as? [NSDictionary])
    let areas = ranks.compactMap { $0["auc"] as? Double }
    #expect(areas.count == 8 && areas == areas.sorted(by: >))
    #expect(areas[0] >= 0.97)
    #expect(ranks[0]["name"] as? String == "narrow net 1")
    #expect(ranks[0]["positives"] as? Int == 58 && ranks[0]["negatives"] as? Int == 15)
  }

  @Test("The table shows the groups and every configuration")
  func table() async throws {
    let folder = try TemporaryFolder()
    let trial = folder.path("a_1")
    try FileManager.default.createDirectory(at: trial, withIntermediateDirectories: true)
    let information =
      "{\"testId\":\"a\",\"startTime\":\"2021-03-01T09:00:00-05\","
      + "\"stopTime\":\"2021-03-01T10:00:00-05\",\"details\":[]}"
    try Data(information.utf8).write(to: trial.appendingPathComponent("a_1_info.json"))
    let run = try await Run("trials", folder.url.path)
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.output.contains("0 phones with a high alert, 0 without alert; 0 with a low alert"))
    #expect(run.output.contains("configuration       version  AUC      source\n"))
    #expect(run.output.contains("narrow net 1        2        -"))
    #expect(run.output.contains("files missing, too large or damaged: 1"))
  }

  @Test("A missing or empty folder ends with 2 and one line")
  func badFolder() async throws {
    let folder = try TemporaryFolder()
    for path in [folder.url.path, folder.path("none").path] {
      let run = try await Run("trials", path, "--json")
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1)
      #expect(run.errors.contains("name "))
    }
  }
}
