// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite(
  "firebreak windows", .needs(.process), .enabled(if: SharedData.isPresent, "\(SharedData.absence)")
)
struct WindowsCommandTests {
  private let folder: TemporaryFolder
  private let keys: String

  /// The key of the Cryptography Specification's vectors, in a signed file.
  init() async throws {
    folder = try TemporaryFolder()
    let json = folder.path("keys.json")
    try #"""
    {"temporaryExposureKeys": [
      {"key": "dcc0xt0aeC3nqWXaXrkxJQ==", "rollingStartNumber": 2642976, "rollingPeriod": 144,
       "reportType": 2, "daysSinceOnsetOfSymptoms": 1}]}
    """#.write(to: json, atomically: true, encoding: .utf8)
    keys = folder.path("keys.zip").path
    let made = try await Run(
      "keyfile", "make", "--keys", json.path, "--signing-key",
      SharedData.url("keyfiles/google-server-example/private.pem").path, "--key-id", "260",
      "--key-version", "v1", "--region", "PL", "--start", "1585785600", "--end", "1585872000",
      "--output", keys)
    try #require(made.status == 0, "\(made.errors)")
  }

  /// The second identifier of the vectors with its metadata: 8 dBm.
  private static let beacon = "3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1"
  private static let start = 1_585_785_600 + 600

  private func windows(
    _ rows: [(seconds: Int, signal: Int)], _ more: String...
  ) async throws -> Run {
    let text = rows.map { "\(Self.beacon),\(Self.start + $0.seconds),\($0.signal)\n" }.joined()
    let csv = folder.path("sightings.csv")
    try Data(("rpi,aem,unix_time,rssi\n" + text).utf8).write(to: csv)
    return try await Run(
      ["windows", "--sightings", csv.path, "--unsigned", keys] + more)
  }

  private func list(_ run: Run) throws -> [NSDictionary] {
    try #require(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    return try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [NSDictionary])
  }

  @Test("Sightings become scans of one window, in the form of score")
  func window() async throws {
    let run = try await windows([(0, -50), (2, -54), (240, -60)])
    let window = try #require(try list(run).first)
    #expect(window["date"] as? String == "2020-04-02")
    #expect(window["infectiousness"] as? Int == 2)
    #expect(window["diagnosisReportType"] as? Int == 2)
    let scans = try #require(window["scanInstances"] as? [[String: Int]])
    #expect(scans.map { $0["typicalAttenuation"] } == [60, 68])
    #expect(scans.map { $0["minimumAttenuation"] } == [58, 68])
    #expect(scans.map { $0["secondsSinceLastScan"] } == [120, 240])
    try Data(run.output.utf8).write(to: folder.path("w.json"))
    try Data("{}".utf8).write(to: folder.path("c.json"))
    let score = try await Run(
      "score", "--windows", folder.path("w.json").path, "--configuration",
      folder.path("c.json").path, "--exact", "--json")
    let days = try #require(try score.json()?["daySummaries"] as? [NSDictionary])
    #expect((days[0]["daySummary"] as? NSDictionary)?["scoreSum"] as? Double == 360)
  }

  @Test("The infectiousness is that of the configuration's map")
  func infectiousness() async throws {
    func infectiousness(_ map: String) async throws -> [Int?] {
      let path = folder.path("c.json").path
      try Data("{\"infectiousnessForDaysSinceOnsetOfSymptoms\": \(map)}".utf8)
        .write(to: folder.path("c.json"))
      return try list(try await windows([(0, -50)], "--configuration", path)).map {
        $0["infectiousness"] as? Int
      }
    }
    #expect(try await infectiousness(#"{"1": 1, "unknown": 2}"#) == [1])
    #expect(try await infectiousness(#"{"2": 2}"#) == [])
  }

  @Test("The rules of a phone apply: a replay twenty minutes later does not count")
  func replay() async throws {
    let list = try list(try await windows([(0, -50), (1_201, -50)]))
    #expect((list.first?["scanInstances"] as? [Any])?.count == 1)
    #expect(try self.list(try await windows([])).isEmpty)
  }

  @Test("A file without the required signature ends with 1, and nothing is printed")
  func signature() async throws {
    let csv = folder.path("s.csv")
    try Data("rpi,aem,unix_time,rssi\n".utf8).write(to: csv)
    let other = SharedData.url("keyfiles/google-sample/public-310-v1.pem").path
    let run = try await Run("windows", "--sightings", csv.path, "--public-key", other, keys)
    #expect(run.status == 1 && run.output.isEmpty && !run.errors.isEmpty)
  }
}
