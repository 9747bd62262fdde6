// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// Wrong usage of every command, as users type it. `UsageErrorTests` has the answers of the parser.
@Suite("Wrong usage of the commands", .needs(.process))
struct WrongUsageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for (name, text) in [
      ("text", "hello"), ("empty", ""), ("bad.json", "{"), ("none.csv", "rpi,aem,unix_time,rssi\n"),
      ("marked.json", "\u{feff}{\"a\": 1}"),
    ] {
      try Data(text.utf8).write(to: folder.path(name))
    }
    try FileManager.default.createDirectory(
      at: folder.path("folder"), withIntermediateDirectories: false)
  }

  private func run(_ arguments: String) async throws -> Run {
    try await Run(
      arguments.split(separator: " ").map(String.init), workingFolder: folder.url)
  }

  @Test(
    "The answer is one line on stderr with the cause, the exit status is 2, and nothing is created",
    arguments: [
      ("keyfil", "did you mean `firebreak keyfile`?"),
      ("help mtach", "did you mean `firebreak match`?"), ("--verison", "did you mean --version?"),
      ("keyfile", "needs a command"), ("serve --port -1 --data new", "--port takes 0 to 65533"),
      ("serve --data text --port 0", "text is a file"),
      ("serve --region poland --data new --port 0", "--region takes two upper-case letters"),
      ("serve --clock-file none --developer --data new", "none is not the clock"),
      ("phone run --data new", "The folder new does not exist"),
      ("phone --data text status", "text is not a folder but a file"),
      ("phone --create-key key --data new enable", "There is no configuration"),
      ("phone --create-key key --data new --config text run", "text: it must contain"),
      ("phone hear none --developer", "The sightings file none cannot be read"),
      ("phone hear text --developer", "The sightings file text, line 1"),
      ("phone sent --developer --rssi -500", "--rssi takes -128 to 127"),
      ("keyfile inspect none", "none: The file could not be read"),
      ("keyfile inspect folder", "folder: This is a folder"),
      ("keyfile inspect empty", "empty: The file is empty"),
      ("keyfile verify text --public-key none", "The public key none cannot be read"),
      ("keyfile verify text --public-key folder", "The public key folder cannot be read"),
      ("match --sightings text text", "The sightings file text, line 1"),
      ("match --sightings none.csv none", "none: The file could not be read"),
      ("match --sightings none.csv --public-key text text", "The public key text cannot be used"),
      ("score --windows none --configuration none", "The configuration none cannot be read"),
      ("conformance gaen-crypto text", "text: not in the form of the suite gaen-crypto"),
      ("conformance key-files folder", "name the file of the suite key-files"),
      ("simulate marked.json --output new", "marked.json: a is not a field"),
      ("simulate bad.json --output new", "bad.json: The scenario needs one JSON object"),
      ("windows --sightings none.csv none", "none: The file could not be read"),
      ("canary --data new", "Missing expected argument '--verification-server"),
      ("database move --data none", "There is no folder none"),
      ("database check --data text", "text is a file: name the folder of the servers"),
      ("backup copy --data folder", "The folder folder has no data of a server"),
      ("verify-backup text", "text is not a backup"), ("verify-backup folder", "is a folder"),
      ("end-of-service tell --data none", "There is no folder none"),
      ("end-of-service delte", "did you mean `firebreak end-of-service delete`?"),
      ("key-server signing-key relocate --data none", "Missing expected argument '--key"),
      ("key-server mirror", "Missing expected argument '<index>'"),
      ("verification-server api-key add --type foo", "'device', 'admin', 'canary' or 'stats'"),
      ("console audit export --data none", "There is no folder none"),
      ("clock --data none", "There is no folder none"),
      ("trials folder --sweep none", "The sweep none cannot be read"),
      ("trials none", "none does not exist"), ("trials text", "text is a file: name the folder"),
      ("trials folder", "No trial in"), ("demo --keep folder", "folder exists"),
      ("demo --report folder", "The report cannot be written"),
      ("beacon advertise --radio hci:a:1 --transmit-power -500", "--transmit-power takes"),
      ("bench match --threads 0", "--threads must be between"),
      ("up --data text", "text is a file"), ("up --phones 0", "--phones takes"),
      ("up --class 1", "--class takes 2 to"), ("up --class abc", "--class takes a whole number"),
      ("console audit verify none", "The audit log none cannot be read"),
      ("restore none --data new", "There is no file none"),
      ("restore folder --data new", "folder is a folder"),
      ("restore text --data deep/new", "is not a backup"),
      ("key-server withdraw none --data new", "none is neither a readable file"),
      ("--generate-completion-script csh", "Can't generate completion scripts for 'csh'"),
    ])
  func refused(arguments: String, cause: String) async throws {
    let before = try contents()
    for attempt in 1...2 {
      let run = try await run(arguments)
      #expect(run.status == 2 && run.output.isEmpty, "\(attempt): \(run.output)")
      #expect(run.errors.hasPrefix("firebreak: "))
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(run.errors.contains(cause), "\(run.errors)")
      #expect(try contents() == before, "\(attempt)")
    }
  }

  @Test("If its database cannot be reached, a first start ends with 3 and leaves no folder")
  func unreachableDatabase() async throws {
    let before = try contents()
    for _ in 1...2 {
      let run = try await run(
        "serve --database postgresql://postgres@127.0.0.1:1/ --data new --port 0")
      #expect(run.status == 3 && run.output.isEmpty, "\(run.output)")
      #expect(run.errors.hasPrefix("firebreak: The code database did not answer: "))
      #expect(run.errors.split(separator: "\n").count == 1 && !run.errors.contains("?."))
      #expect(try contents() == before)
    }
    let add = try await run("verification-server api-key add --type device --data new")
    #expect(add.status == 2 && add.errors.contains("There is no folder new"), "\(add.errors)")
  }

  private func contents() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test(
    "With --json the error is one JSON object on stderr, with the exit code",
    arguments: [
      ("keyfile inspect none --json", 2), ("match --sightings none.csv text --jsn --json", 2),
      ("trials text --json", 2), ("simulate bad.json --json", 2),
      ("backup copy --data none --json", 2),
      ("verify-backup text --json", 2), ("clock --data none --json", 2),
      ("database check --data none --json", 2), ("end-of-service tell --data none --json", 2),
      ("key-server signing-key list --data none --json", 2),
      ("serve --host 192.0.2.1 --port 0 --data new --json", 3),
    ])
  func json(arguments: String, status: Int32) async throws {
    struct Report: Decodable {
      let error: String
      let exitCode: Int32
    }
    let run = try await run(arguments)
    #expect(run.status == status && run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 1)
    let report = try JSONDecoder().decode(Report.self, from: Data(run.errors.utf8))
    #expect(report.exitCode == status && !report.error.isEmpty)
    let text = try await self.run(arguments.replacing(" --json", with: ""))
    #expect(text.errors == "firebreak: \(report.error)\n")
  }
}
