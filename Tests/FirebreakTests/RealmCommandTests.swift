// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing
import VerificationAPI
import World

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
      #expect(list.errors.contains("--realm: north") == (arguments == ["list"]), "\(list.errors)")
    }
    let account = try await run(
      "console", "account", "add", "--role", "administrator", "--name", "Anna")
    #expect(account.status == 0 && account.errors.contains("--realm: north"), "\(account)")
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

  /// The files of the folder besides those of realms.
  private func filesOfMain() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: data)
    where !path.hasPrefix("realms") {
      // Folders have no content.
      files[path] = FileManager.default.contents(atPath: "\(data)/\(path)")
    }
    return files
  }

  @Test("Commands with --realm leave the files of the folder's own authority as they were")
  func siblings() async throws {
    #expect(try await addRealm().status == 0)
    let before = try filesOfMain()
    for arguments in [
      ["verification-server", "settings"], ["verification-server", "api-token"],
      ["verification-server", "api-token", "--replace"],
      ["verification-server", "api-key", "add", "--type", "stats", "--name", "s"],
      ["verification-server", "api-key", "list"], ["verification-server", "signing-key"],
      ["verification-server", "signing-key", "rotate"], ["verification-server", "clock"],
      ["console", "account", "add", "--role", "administrator", "--name", "Anna"],
      ["console", "audit", "verify"], ["backup", folder.path("north.backup").path], ["clock"],
      ["database", "check"], ["database", "migrate"],
    ] {
      let run = try await Run(arguments + ["--data", data, "--realm", "north"])
      #expect(run.status == 0, "\(arguments): \(run.errors)")
      #expect(try filesOfMain() == before, "\(arguments)")
    }
    for arguments in [
      ["signing-key"], ["settings"], ["pause"], ["resume"], ["clock"], ["signing-key", "rotate"],
    ] {
      let run = try await Run(["key-server"] + arguments + ["--data", data, "--realm", "north"])
      #expect(run.status == 2 && run.errors.contains("share the key server"), "\(arguments)")
      #expect(try filesOfMain() == before, "\(arguments)")
    }
  }

  @Test("Commands on a whole folder name the realms that they would miss, and do nothing")
  func wholeFolder() async throws {
    #expect(try await addRealm().status == 0)
    let backup = folder.path("backup").path
    let certificate = folder.path("certificate").path
    for arguments in [
      ["backup", backup], ["clock"], ["database", "check"], ["database", "move", "--to-files"],
      ["end-of-service", "delete", "--certificate", certificate, "--confirm", "--realm", "north"],
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

  private func settings(_ server: String) throws -> [String: Any] {
    let data = try Data(contentsOf: folder.path("data/\(server)/settings.json"))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("The settings list the realms, and servers do not start without the folder of one")
  func lost() async throws {
    #expect(try await addRealm().status == 0)
    for server in ["verification", "keys"] {
      #expect(try settings(server)["realms"] as? [String] == ["north"])
    }
    let printed = try await run("serve", "--print-configuration")
    let realms = try #require(try printed.json()?["realms"] as? [String: Any])
    let north = try #require(realms["north"] as? [String: [String: Any]])
    #expect(north["verification"]?["issuer"] as? String == "codes.north.example")
    #expect(north["console"]?["origin"] as? String == "https://console.north.example")
    let (realmsFolder, away) = (folder.path("data/realms"), folder.path("away"))
    try FileManager.default.moveItem(at: realmsFolder, to: away)
    for arguments in [["serve", "--port", "0"], ["realm", "list"], ["clock"]] {
      let run = try await Run(arguments + ["--data", data])
      #expect(
        run.status == 2 && run.errors.contains("The realm north has no folder"),
        "\(arguments): \(run.errors)")
    }
    try FileManager.default.moveItem(at: away, to: realmsFolder)
    // A copied folder of realms is listed at the start.
    try Data("{}".utf8).write(to: folder.path("data/verification/settings.json"))
    let servers = try await ServedFirebreak(folder: folder)
    _ = try await servers.addresses()
    #expect(try await servers.stop() == 0)
    #expect(try settings("verification")["realms"] as? [String] == ["north"])
    // The advice of the error.
    let backup = folder.path("north.backup").path
    #expect(try await run("backup", backup, "--realm", "north").status == 0)
    try FileManager.default.moveItem(at: realmsFolder, to: away)
    let restored = try await run("restore", backup, "--realm", "north")
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(try await run("realm", "list").output.contains("north: codes.north.example"))
    #expect(try await run("realm", "remove", "north", "--confirm").status == 0)
    for server in ["verification", "keys"] { #expect(try settings(server)["realms"] == nil) }
  }

  @Test(
    "The exports and proxies of a configuration file are those of new realms, also after a start")
  func configured() async throws {
    try Data("{}".utf8).write(to: folder.path("data/keys/settings.json"))
    let file = folder.path("servers.json")
    let text = #"""
      {"keys": {"furtherExports": [{"filenameRoot": "de", "region": "DE"},
        {"filenameRoot": "at", "region": "AT"}]},
       "verification": {"trustedProxies": ["192.0.2.1"]}}
      """#
    try Data(text.utf8).write(to: file)
    let alone = try await addRealm()
    #expect(alone.status == 2 && alone.errors.contains("DE"), "\(alone)")
    let south = [
      "realm", "add", "south", "--host", "codes.south.example", "--origin",
      "https://console.south.example", "--region", "AT", "--app", "org.example.south",
    ]
    let added = try await Run(south + ["--data", data, "--config", file.path])
    #expect(added.status == 0, "\(added.errors)")
    let servers = try await ServedFirebreak(folder: folder, ["--config", file.path])
    #expect(try await servers.addresses().count == 3)
    #expect(try await servers.stop() == 0)
    // The servers were started with the file.
    #expect(try await addRealm().status == 0)
    for name in ["north", "south"] {
      let proxies = try settings("realms/\(name)/verification")["trustedProxies"] as? [String]
      #expect(proxies == ["192.0.2.1"], "\(name)")
    }
    // The advice of the error is one that commands on the register take.
    let moved = folder.path("moved.json")
    try FileManager.default.moveItem(at: file, to: moved)
    for arguments in [["authority", "list"], ["app", "list"]] {
      let command = ["key-server"] + arguments + ["--data", data]
      let refused = try await Run(command)
      #expect(refused.status == 2 && refused.errors.contains("--config"), "\(refused)")
      let list = try await Run(command + ["--config", moved.path])
      #expect(list.status == 0 && list.output.contains("north"), "\(list)")
    }
  }

  @Test("A realm is not added with an app or a region of the register, also not the second time")
  func registered() async throws {
    func app(_ arguments: String...) async throws {
      let run = try await Run(["key-server", "app"] + arguments + ["--data", data])
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
    let own = ["--authority", "verification.firebreak.example"]
    try await app("add", "org.example.other", "--region", "DE", own[0], own[1])
    for _ in 1...2 {
      let region = try await addRealm()
      #expect(region.status == 2 && region.errors.contains("org.example.other"), "\(region)")
    }
    try await app("add", "org.example.other", "--region", "PL")
    try await app("add", "org.example.north", "--region", "PL", own[0], own[1])
    let taken = try await addRealm()
    #expect(taken.status == 2 && taken.errors.contains("org.example.north"), "\(taken)")
    #expect(!FileManager.default.fileExists(atPath: data + "/realms"))
    try await app("remove", "org.example.north")
    #expect(try await addRealm().status == 0)
    let list = try await run("key-server", "authority", "list")
    #expect(list.output.contains("codes.north.example"), "\(list)")
  }

  @Test(
    "The end of the service deletes the realms too, also after an interruption",
    arguments: [false, true])
  func endOfService(isInterrupted: Bool) async throws {
    #expect(try await addRealm().status == 0)
    let servers = try await ServedFirebreak(folder: folder)
    _ = try await servers.addresses()
    #expect(try await run("end-of-service", "tell").status == 0)
    let file = folder.path("certificate.json")
    func delete() async throws -> Run {
      try await run("end-of-service", "delete", "--confirm", "--certificate", file.path)
    }
    #expect(try await delete().status == 2)
    #expect(try await servers.stop() == 0)
    if isInterrupted {
      // The run fails where it empties the index, and the next one has deleted the files of the realm.
      let index = folder.path("data/exports/index.txt")
      FileManager.default.removeUnneeded(index)
      try FileManager.default.createDirectory(
        at: index.appendingPathComponent("folder"), withIntermediateDirectories: true)
      #expect(try await delete().status == 3)
      try FileManager.default.removeItem(at: index)
      let realm = folder.path("data/realms/north")
      try FileManager.default.removeItem(at: realm)
      try FileManager.default.createDirectory(
        at: realm.appendingPathComponent("console"), withIntermediateDirectories: true)
    }
    let ended = try await delete()
    #expect(ended.status == 0, "\(ended.errors)")
    for name in ["realms", "keys", "verification", "console"] {
      #expect(!FileManager.default.fileExists(atPath: "\(data)/\(name)"), "\(name)")
    }
    let certificate = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    let names = try #require(certificate["servers"] as? [String])
    #expect(Set(["keys", "north/console", "north/verification"]).isSubset(of: names))
    guard !isInterrupted else { return }
    let deleted = try #require(certificate["deleted"] as? [[String: Any]])
    let paths = Set(deleted.compactMap { $0["path"] as? String })
    for path in ["verification/secrets.json", "console/console.sqlite", "realm.json"] {
      #expect(paths.contains("realms/north/\(path)"), "\(path)")
    }
  }

  @Test("The end of the service refuses linked servers and realms, and follows linked exports")
  func linkedEndOfService() async throws {
    #expect(try await addRealm().status == 0)
    let servers = try await ServedFirebreak(folder: folder)
    _ = try await servers.addresses()
    #expect(try await run("end-of-service", "tell").status == 0)
    #expect(try await servers.stop() == 0)
    let file = folder.path("certificate.json")
    let away = folder.path("away")
    for path in ["realms/north", "realms", "realms/north/console", "keys"] {
      let place = folder.path("data/\(path)")
      let count = try FileManager.default.subpathsOfDirectory(atPath: place.path).count
      try FileManager.default.moveItem(at: place, to: away)
      try FileManager.default.createSymbolicLink(at: place, withDestinationURL: away)
      for _ in 1...2 {
        let refused = try await run(
          "end-of-service", "delete", "--confirm", "--certificate", file.path)
        #expect(refused.status == 2, "\(path): \(refused)")
        #expect(refused.errors.contains("\(place.path) is a link"), "\(refused.errors)")
      }
      #expect(try FileManager.default.subpathsOfDirectory(atPath: away.path).count == count)
      try FileManager.default.removeItem(at: place)
      try FileManager.default.moveItem(at: away, to: place)
    }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let exports = folder.path("data/exports")
    try FileManager.default.moveItem(at: exports, to: away)
    try FileManager.default.createSymbolicLink(at: exports, withDestinationURL: away)
    try Data("keys".utf8).write(to: away.appendingPathComponent("0.zip"))
    let ended = try await run("end-of-service", "delete", "--confirm", "--certificate", file.path)
    #expect(ended.status == 0, "\(ended.errors)")
    let left = try FileManager.default.subpathsOfDirectory(atPath: away.path)
    #expect(left.contains("device-configuration.json") && !left.contains("0.zip"))
    #expect(try String(contentsOf: file, encoding: .utf8).contains("exports/0.zip"))
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
    let text = String(decoding: metrics.body, as: UTF8.self)
    #expect(text.contains(#"firebreak_realm_up{realm="north"} 1"#))
    #expect(text.contains(#"firebreak_database_bytes{realm="north",server="verification"}"#))
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
