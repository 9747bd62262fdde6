// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak simulate", .needs(.process))
struct SimulateCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func scenario(_ json: String) throws -> String {
    let url = folder.path("scenario.json")
    try json.write(to: url, atomically: true, encoding: .utf8)
    return url.path
  }

  private static let small = """
    {"name": "Six & two days", "days": 2, "contacts": {"people": 6}, "adoption": [0.5, 1],
     "firstCases": 1, "app": {"minimumKeys": 0}}
    """

  @Test(
    "The files of one seed are equal on any number of threads, and differ from those of another")
  func files() async throws {
    let scenario = try scenario(Self.small)
    func files(_ name: String, seed: Int, threads: Int) async throws -> [Data] {
      let output = folder.path(name)
      let run = try await Run(
        "simulate", scenario, "--seed", "\(seed)", "--threads", "\(threads)", "--output",
        output.path)
      try #require(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      #expect(run.output.contains("6 people, 2 days, seed \(seed)"))
      #expect(run.output.contains("100 %") && run.output.contains(output.path))
      return try ["events.csv", "summary.json", "report.html"].map {
        try Data(contentsOf: output.appendingPathComponent($0))
      }
    }
    let first = try await files("first", seed: 1, threads: 1)
    #expect(try await files("again", seed: 1, threads: 2) == first)
    #expect(try await files("other", seed: 2, threads: 2) != first)
    let (events, page) = (String(decoding: first[0], as: UTF8.self), first[2])
    #expect(events.hasPrefix("adoption,seconds,day,person,event,detail\n"))
    #expect(String(decoding: page, as: UTF8.self).contains("<h1>Six &amp; two days</h1>"))
  }

  @Test("--json prints the content of summary.json, and every phone has checked for keys")
  func json() async throws {
    let output = folder.path("results")
    let run = try await Run(
      "simulate", try scenario(Self.small), "--json", "--output", output.path)
    try #require(run.status == 0, "\(run.errors)")
    let printed = try #require(try run.json())
    let stored =
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: output.appendingPathComponent("summary.json"))) as? NSDictionary
    #expect(printed == stored)
    let runs = try #require(printed["runs"] as? [NSDictionary])
    #expect(runs.map { $0["phones"] as? Int } == [3, 6])
    for run in runs {
      let (phones, checks) = (run["phones"] as? Int ?? 0, run["checks"] as? Int ?? 0)
      #expect(checks >= phones * 2 && run["failedChecks"] as? Int == 0)
      #expect(run["reproductionNumber"] == nil, "two days are too few")
    }
  }

  @Test("Files of an earlier run are replaced together, and no folder of phones is left")
  func replaced() async throws {
    let (scenario, output) = (try scenario(Self.small), folder.path("results"))
    let unfinished = output.appendingPathComponent(".unfinished-results")
    try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
    for name in ["events.csv", "notes.txt", ".unfinished-results/events.csv"] {
      try Data("earlier".utf8).write(to: output.appendingPathComponent(name))
    }
    let run = try await Run("simulate", scenario, "--output", output.path)
    #expect(run.status == 0, "\(run.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
    #expect(names == ["events.csv", "notes.txt", "report.html", "summary.json"])
    let events = try Data(contentsOf: output.appendingPathComponent("events.csv"))
    #expect(events.starts(with: Data("adoption,".utf8)))
  }

  @Test(
    "If an earlier file cannot be removed, the finished files stay, and the error names their folder",
    .needs(.smallDisk))
  func kept() async throws {
    let (scenario, other) = (try scenario(Self.small), folder.path("other"))
    let disk = try SmallDisk(bytes: 16 << 20)
    let output = disk.url.appendingPathComponent("results")
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: false)
    for name in ["events.csv", "summary.json"] {
      try Data("earlier".utf8).write(to: output.appendingPathComponent(name))
    }
    try disk.makeAppendOnly(output.appendingPathComponent("summary.json"))
    let run = try await Run("simulate", scenario, "--output", output.path)
    #expect(run.status == 3 && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(try await Run("simulate", scenario, "--output", other.path).status == 0)
    #expect(run.errors.contains(".finished-results"), "\(run.errors)")
    for name in ["events.csv", "summary.json", "report.html"] {
      #expect(
        try Data(contentsOf: output.appendingPathComponent(".finished-results/\(name)"))
          == Data(contentsOf: other.appendingPathComponent(name)))
    }
    let again = try await Run("simulate", scenario, "--output", output.path)
    #expect(again.status == 3 && again.errors.contains(".finished-results"), "\(again.errors)")
  }

  @Test("A scenario or a recording in place of a result is named before the work begins, and stays")
  func inputs() async throws {
    let content =
      #"{"days": 1, "contacts": {"file": "events.csv"}, "firstCases": 1, "disease": {"reproductionNumber": 0.5}}"#
    let recorded = try scenario(content)
    let recording = "20,a,b\n40,b,c\n"
    try Data(recording.utf8).write(to: folder.path("events.csv"))
    let own = try await Run("simulate", recorded, "--output", folder.url.path)
    #expect(own.status == 2 && own.errors.contains("events.csv would be replaced"), "\(own.errors)")
    #expect(try String(contentsOf: folder.path("events.csv"), encoding: .utf8) == recording)
    let summary = folder.path("summary.json")
    try Data(Self.small.utf8).write(to: summary)
    let second = try await Run("simulate", summary.path, "--output", folder.url.path)
    #expect(second.status == 2 && second.errors.contains("summary.json would be replaced"))
    #expect(try String(contentsOf: summary, encoding: .utf8) == Self.small)
  }

  @Test("A folder in place of a result is named before the work begins, and nothing is changed")
  func blocked() async throws {
    let output = folder.path("results")
    try FileManager.default.createDirectory(
      at: output.appendingPathComponent("report.html"), withIntermediateDirectories: true)
    try Data("earlier".utf8).write(to: output.appendingPathComponent("events.csv"))
    let run = try await Run(
      "simulate", try scenario(Self.small), "--output", output.path)
    #expect(run.status == 2 && run.errors.contains("report.html"), "\(run.errors)")
    #expect(
      try Data(contentsOf: output.appendingPathComponent("events.csv")) == Data("earlier".utf8))
  }

  @Test(
    "An error names the file, the field and what to write, and nothing is simulated",
    arguments: [
      (#"{"days": 0}"#, "days needs a whole number from 1 to 366"),
      (#"{"contacts": {"people": 4}}"#, "firstCases needs a number up to the 4 people; it is 5."),
      (
        #"{"contacts": {"people": 5}, "disease": {"reproductionNumber": 5}}"#,
        "disease.reproductionNumber cannot be reached, because a person meets"
      ),
      (#"{"contacts": {"file": "none.csv"}}"#, "none.csv"),
      (#"{"contacts": {"file": "scenario.json"}}"#, "has no time in line 1"),
    ])
  func errors(json: String, expected: String) async throws {
    let output = folder.path("results")
    let run = try await Run("simulate", try scenario(json), "--output", output.path)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(expected), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: output.path))
  }

  @Test(
    "A recording next to the scenario is read, and a file in place of the output folder is named")
  func recording() async throws {
    try "20,ada,ben,1\n40,ada,ben,1\n60,ben,cleo,2\n".write(
      to: folder.path("office.csv"), atomically: true, encoding: .utf8)
    let scenario = try scenario(
      """
      {"days": 1, "contacts": {"file": "office.csv"}, "adoption": [1], "firstCases": 1,
          "disease": {"reproductionNumber": 1}}
      """)
    let run = try await Run("simulate", scenario, "--output", folder.path("results").path)
    #expect(run.status == 0 && run.output.contains("3 people, 1 day, seed 1"), "\(run.errors)")
    let events = try String(
      contentsOf: folder.path("results/events.csv"), encoding: .utf8)
    #expect(["ada", "ben", "cleo"].contains { events.contains(",\($0),infected,") })
    let blocked = try await Run("simulate", scenario, "--output", scenario)
    #expect(blocked.status == 2 && blocked.errors.contains("another folder with --output"))
  }
}
