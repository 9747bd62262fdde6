// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing
import VerificationAPI

/// `firebreak realm` and the commands with `--realm`, with the built program.
@Suite("Realm commands", .needs(.process))
struct RealmCommandTests {
  private let folder: TemporaryFolder
  private var data: String { folder.path("data").path }

  init() throws {
    folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    try Data(#"{"furtherExports": [{"filenameRoot": "de", "region": "DE"}]}"#.utf8)
      .write(to: folder.path("data/keys/settings.json"))
  }

  private func run(_ arguments: String...) async throws -> Run {
    try await Run(arguments + ["--data", data])
  }

  private func addRealm(_ name: String = "north") async throws -> Run {
    try await run(
      "realm", "add", name, "--host", "codes.\(name).example", "--origin",
      "https://console.\(name).example", "--region", "DE", "--app", "org.example.\(name)")
  }

  @Test("A realm is added once, listed, and removed with a confirmation")
  func administration() async throws {
    let none = try await run("realm", "list")
    #expect(none.status == 0 && none.output.contains("no realms"))
    let added = try await addRealm()
    #expect(added.status == 0 && added.output.contains("console account add --realm north"))
    let again = try await addRealm()
    #expect(again.status == 2 && again.errors.split(separator: "\n").count == 1)
    let other = try await addRealm("south")
    #expect(other.status == 2 && other.errors.contains("DE"))
    let listed = try await run("realm", "list", "--json")
    let realms = try #require(try listed.json()?["realms"] as? [[String: Any]])
    #expect(realms.map { $0["name"] as? String } == ["north"])
    #expect(realms[0]["issuer"] as? String == "codes.north.example")
    #expect(try await run("realm", "remove", "north").status == 2)
    #expect(try await run("realm", "remove", "north", "--confirm").status == 0)
    #expect(try await run("realm", "list").output == none.output)
    let unknown = try await run("realm", "remove", "north", "--confirm")
    #expect(unknown.status == 2 && unknown.errors.contains("no realm"))
  }

  @Test("Commands administer the realm that they name, or the folder's own authority")
  func commands() async throws {
    #expect(try await addRealm().status == 0)
    func api(_ arguments: String...) async throws -> Run {
      try await Run(["verification-server", "api-key"] + arguments + ["--data", data])
    }
    let north = try await api("add", "--type", "admin", "--name", "n", "--realm", "north")
    let main = try await api("add", "--type", "admin", "--name", "m", "--realm", "main")
    #expect(north.status == 0 && main.status == 0, "\(north.errors) \(main.errors)")
    #expect(try await api("list", "--realm", "north").output.contains(" admin n"))
    for arguments in [["list"], ["list", "--realm", "main"]] {
      let list = try await Run(
        ["verification-server", "api-key"] + arguments + ["--data", data])
      #expect(list.output.contains(" admin m") && !list.output.contains(" admin n"))
    }
    for (arguments, word) in [
      (["verification-server", "api-key", "list", "--realm", "south"], "no realm"),
      (["key-server", "settings", "--realm", "north"], "share the key server"),
      (["verification-server", "settings", "--realm", "north", "--issuer", "x"], "own folder"),
      (["serve", "--realm", "north"], "all realms"),
    ] {
      let run = try await Run(arguments + ["--data", data])
      #expect(run.status == 2 && run.errors.contains(word), "\(arguments): \(run.errors)")
    }
    let realm = folder.path("data/realms/north").path
    let direct = try await Run("serve", "--port", "0", "--data", realm)
    #expect(direct.status == 2 && direct.errors.contains("--realm"))
  }

  @Test("Commands on a whole folder name the realms that they would miss, and do nothing")
  func wholeFolder() async throws {
    #expect(try await addRealm().status == 0)
    let backup = folder.path("backup").path
    let certificate = folder.path("certificate").path
    for arguments in [
      ["backup", backup], ["clock"], ["database", "check"], ["database", "move", "--to-files"],
      ["end-of-service", "delete", "--certificate", certificate, "--confirm"],
    ] {
      let run = try await Run(arguments + ["--data", data])
      #expect(run.status == 2 && run.errors.contains("ealm"), "\(arguments): \(run.errors)")
    }
    let left = [backup, certificate].filter { FileManager.default.fileExists(atPath: $0) }
    #expect(left.isEmpty && FileManager.default.fileExists(atPath: data + "/keys/settings.json"))
  }

  @Test("Servers and backups do not start if the realms cannot be read")
  func unreadable() async throws {
    try Data().write(to: folder.path("data/realms"))
    for arguments in [["serve", "--port", "0"], ["backup", folder.path("backup").path]] {
      let run = try await Run(arguments + ["--data", data])
      #expect(
        run.status == 2 && run.errors.contains("realms cannot be read"),
        "\(arguments): \(run.errors)")
    }
  }

  @Test("The servers answer at the hosts of a realm with its keys, and say when it is new")
  func serve() async throws {
    #expect(try await addRealm().status == 0)
    let key = try await run(
      "verification-server", "api-key", "add", "--type", "admin", "--realm", "north")
    let servers = try await ServedFirebreak(folder: folder, ["--metrics-port", "0"])
    let addresses = try await servers.addresses()
    let address = try #require(addresses["verification"])
    let apiKey = key.output.trimmingCharacters(in: .whitespacesAndNewlines)
    for (host, status) in [("codes.north.example", 200), ("localhost", 401)] {
      let response = try await LoopbackClient.sendOnce(
        "POST", address + VerificationRoute.issue,
        headers: [
          ("host", host), ("content-type", "application/json"),
          (VerificationRoute.apiKeyHeader, apiKey),
        ], body: Data(#"{"testType":"confirmed"}"#.utf8))
      #expect(response.status == status, "\(host)")
    }
    let metrics = try await servers.get(addresses["metrics"], "/metrics")
    #expect(String(decoding: metrics.body, as: UTF8.self).contains(#"realm="north""#))
    let removed = try await run("realm", "remove", "north", "--confirm")
    #expect(removed.status == 2 && removed.errors.contains("already runs"))
    #expect(try await servers.stop() == 0)
  }

  @Test("A backup of a realm is restored to this realm only, and the others stay")
  func backup() async throws {
    #expect(try await addRealm().status == 0)
    let servers = try await ServedFirebreak(folder: folder)
    _ = try await servers.addresses()
    let files = ["north", "main"].map { folder.path("\($0).backup").path }
    for (name, file) in zip(["north", "main"], files) {
      let run = try await run("backup", file, "--realm", name)
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(try await servers.stop() == 0)
    #expect(try await Run("verify-backup", files[0]).status == 0)
    for (file, name) in [(files[0], "main"), (files[1], "north"), (files[0], "south")] {
      let run = try await run("restore", file, "--realm", name, "--replace")
      #expect(run.status == 2, "\(name): \(run.errors)")
      #expect(try await self.run("realm", "list").output.contains("north:"))
    }
    let keys = folder.path("data/realms/north/verification/secrets.json")
    let before = try Data(contentsOf: keys)
    for (file, name) in [(files[0], "north"), (files[1], "main")] {
      let run = try await run("restore", file, "--realm", name, "--replace")
      #expect(run.status == 0, "\(name): \(run.errors)")
      #expect(try await self.run("realm", "list").output.contains("north:"))
    }
    #expect(try Data(contentsOf: keys) == before)
    let again = try await ServedFirebreak(folder: folder)
    #expect(try await again.addresses().count == 3)
    #expect(try await again.stop() == 0)
  }
}
