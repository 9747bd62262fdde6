// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// Restorations with several earlier folders beside the new one, in each of which something was revoked: one from
/// another backup, one that was restored before, and one without the root key.
@Suite("Revocations in several earlier folders", .needs(.process))
struct EarlierFoldersTests {
  /// The folder of servers that do not run.
  private struct Office {
    let place: TemporaryFolder
    /// The id of an API key.
    let apiKey: String

    var data: URL { place.path("data") }

    /// The folder of which each test gets a copy.
    private static let template = Task {
      let office = try await Office(preparing: try TemporaryFolder())
      office.place.removeAtExit()
      return office
    }

    /// Servers with an authority and its app, three administrators and an API key.
    init() async throws {
      let template = try await Self.template.value
      place = try template.place.copy()
      apiKey = template.apiKey
    }

    private init(preparing place: TemporaryFolder) async throws {
      self.place = place
      try ServedAuthority.prepare(place)
      try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8)
        .write(to: place.path("public.pem"))
      let add = ["verification-server", "api-key", "add", "--type", "admin"]
      let key = try await Run(add + ["--data", place.path("data").path])
      apiKey = String(key.output.prefix(16))
      try await addAuthority()
      for name in ["Anna", "Berta", "Celina"] {
        try await run("console", "account", "add", "--role", "administrator", "--name", name)
      }
      try await start { _ in }
    }

    func addAuthority() async throws {
      try await run(
        "key-server", "authority", "add", "--issuer", "clinic", "--audience", "keys", "--key-id",
        "v1", "--public-key", place.path("public.pem").path)
      try await run(
        "key-server", "app", "add", "org.clinic", "--region", "PL", "--authority", "clinic")
    }

    @discardableResult
    func run(_ words: String...) async throws -> Run {
      let run = try await Run(words + ["--data", data.path])
      try #require(run.status == 0, "\(words): \(run.errors)")
      return run
    }

    /// The path of a new backup.
    func backUp(_ name: String) async throws -> String {
      try await run("backup", place.path(name).path)
      return place.path(name).path
    }

    /// Starts the servers, and stops them after `body`.
    func start(_ body: (ServedAuthority) async throws -> Void) async throws {
      let authority = try await ServedAuthority(in: place)
      try await body(authority)
      #expect(try await authority.servers.stop() == 0)
    }

    /// The folders that restorations have moved away.
    var replaced: [URL] {
      get throws {
        try FileManager.default.contentsOfDirectory(at: place.url, includingPropertiesForKeys: nil)
          .filter { $0.lastPathComponent.hasPrefix("data.replaced-") }
      }
    }

    /// Waits until the times of the audit log, which are whole seconds, and the versions of new
    /// device configurations, which begin with the time, are higher.
    func untilLater() async throws {
      let later = SystemClock().now.timeIntervalSince1970.rounded(.up) + 1
      try await Patience.until { SystemClock().now.timeIntervalSince1970 > later }
    }

    func removeReplaced() throws {
      for folder in try replaced { try FileManager.default.removeItem(at: folder) }
    }

    /// The facts that must not come back.
    func facts() async throws -> [String] {
      var facts: [String] = []
      for words in [
        ["verification-server", "api-key", "list"], ["verification-server", "api-token"],
        ["verification-server", "signing-key", "list"], ["key-server", "signing-key", "list"],
        ["key-server", "authority", "list"], ["key-server", "app", "list"],
      ] { facts.append(try await Run(words + ["--data", data.path, "--json"]).output) }
      let accounts = "SELECT name, disabled_at IS NULL, password_hash FROM account ORDER BY name"
      return try await facts
        + DatabaseQueue(waitingAt: data.path + "/console/console.sqlite").read { db in
          try Row.fetchAll(db, sql: accounts).map(\.description)
        }
    }
  }

  private static func settings(periodSeconds: Int) -> [String: String] {
    [
      "keys/settings.json":
        #"{"exportPeriodSeconds":\#(periodSeconds),"minimumKeys":1,"paddingRange":0}"#
    ]
  }

  @Test("The keys of a withdrawn file that was written after the backup are not published again")
  func laterFile() async throws {
    var authority = try await ServedAuthority(Self.settings(periodSeconds: 3_600))
    let place = authority.folder
    // It gets into a file after the backup, unless an hour ends here.
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    let backup = place.path("backup").path
    #expect(try await authority.run("backup", backup).status == 0)
    #expect(try await authority.servers.stop() == 0)
    authority = try await ServedAuthority(Self.settings(periodSeconds: 10), in: place)
    try await Patience.until { try await authority.indexLines().count == 2 }
    let line = try await authority.indexLines()[0]
    let file = place.path("data/exports/\(line)").path
    #expect(try await authority.run("key-server", "withdraw", file).status == 0)
    for round in 1...2 {
      #expect(try await authority.servers.stop() == 0)
      let restored = try await Run(
        "restore", backup, "--replace", "--data", authority.servers.data)
      #expect(restored.status == 0, "\(restored.errors)")
      // The second time, only the restored folder knows of the file.
      if round == 1 {
        for name in try FileManager.default.contentsOfDirectory(atPath: place.url.path)
        where name.hasPrefix("data.replaced-") {
          try FileManager.default.removeItem(at: place.path(name))
        }
      }
      authority = try await ServedAuthority(Self.settings(periodSeconds: 10), in: place)
      try await authority.publishKey()
      #expect(try await authority.verifiedFileCount() == 2)
      #expect(try await authority.servedDocument().withdrawn.count == 2)
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Of two folders that have continued after the backup, the newest state is kept")
  func newest() async throws {
    let office = try await Office()
    let backup = try await office.backUp("backup")
    try await office.run("console", "account", "recover", "--name", "Celina")
    try await office.run("console", "account", "disable", "--name", "Berta")
    try await office.run("verification-server", "api-token", "--replace")
    try await office.run("key-server", "app", "remove", "org.clinic")
    try await office.run("key-server", "authority", "remove", "--issuer", "clinic")
    try await office.run("restore", backup, "--replace")
    try await office.untilLater()
    try await office.run("console", "account", "recover", "--name", "Celina")
    try await office.run("console", "account", "enable", "--name", "Berta")
    try await office.run("verification-server", "api-token", "--replace")
    try await office.run("verification-server", "api-key", "revoke", office.apiKey)
    try await office.addAuthority()
    let older = try #require(try office.replaced.first)
    let facts = try await office.facts()
    for name in ["a", "z"] {
      let moved = office.place.path("data.replaced-\(name)")
      let present = name == "a" ? older : office.place.path("data.replaced-a")
      try FileManager.default.moveItem(at: present, to: moved)
      try await office.run("restore", backup, "--replace")
      #expect(try await office.facts() == facts)
      try await office.start { _ in }
    }
    #expect(try await office.facts() == facts)
  }

  /// The version of the remote configuration that the key server serves.
  private func version(_ authority: ServedAuthority) async throws -> Int? {
    let page = try await authority.servers.get(authority.keys, "/remote-configuration.json")
    let wire = try JSONSerialization.jsonObject(with: page.body) as? [String: Any]
    let payload = (wire?["payload"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
    return (try JSONSerialization.jsonObject(with: payload) as? [String: Any])?["version"] as? Int
  }

  @Test("The remote configuration with the highest version is kept, and other settings are named")
  func settings() async throws {
    let office = try await Office()
    func write(_ settings: String) throws {
      try ServedAuthority.write(["keys/settings.json": settings], in: office.place)
    }
    try write(#"{"remoteConfiguration": {"version": 7}}"#)
    let backup = try await office.backUp("backup")
    try write(#"{"remoteConfiguration": {"version": 9}, "logLevel": "info"}"#)
    for round in 1...2 {
      let restored = try await office.run("restore", backup, "--replace")
      #expect(
        restored.errors.contains("the remote configuration, version 9"), "\(restored.errors)")
      #expect(restored.errors.contains("(logLevel)") == (round == 1), "\(restored.errors)")
      // The second time, only the restored folder has it.
      try office.removeReplaced()
      for _ in 1...2 {
        try await office.start { authority in
          let version = try await version(authority)
          #expect(version == 9)
        }
      }
    }
  }

  @Test(
    "A pause outlives the restoration of an older backup and then of a newer one, each time",
    arguments: [false, true])
  func pause(isAfterBackups: Bool) async throws {
    let office = try await Office()
    let older = try await office.backUp("older")
    if isAfterBackups {
      _ = try await office.backUp("newer")
      try await office.run("key-server", "pause", "--until", "4000000000")
    } else {
      try await office.run("key-server", "pause", "--until", "4000000000")
      _ = try await office.backUp("newer")
      try FileManager.default.removeItem(at: office.data)
    }
    try await office.untilLater()
    try await office.run("restore", older, "--replace")
    for round in 1...2 {
      let newer = office.place.path("newer").path
      let restored = try await office.run("restore", newer, "--replace")
      // The first time, the folder from the older backup does not know of the pause.
      let isUncertain = round == 1 && !isAfterBackups
      #expect(restored.errors.contains("stay paused") == isUncertain, "\(restored.errors)")
      for _ in 1...2 {
        try await office.start { authority in
          let pause = try await authority.servedDocument().pause
          #expect(pause?.until == 4_000_000_000)
        }
      }
      try await office.run("restore", older, "--replace")
    }
  }

  @Test("Without the root key the next document has the pause and the withdrawn files")
  func withoutRootKey() async throws {
    let office = try await Office()
    let safe = office.place.path("root-key.pem")
    try FileManager.default.moveItem(
      at: office.data.appendingPathComponent("keys/root-key.pem"), to: safe)
    let backup = try await office.backUp("backup")
    let hash = String(repeating: "ab", count: 32)
    try await office.run("key-server", "pause", "--root-key", safe.path, "--until", "4000000000")
    try await office.run("key-server", "withdraw", hash, "--root-key", safe.path)
    try FileManager.default.removeItem(
      at: office.data.appendingPathComponent("keys/device-configuration.json"))
    for _ in 1...2 {
      let restored = try await office.run("restore", backup, "--replace")
      #expect(restored.errors.contains("The backup has no root key"), "\(restored.errors)")
      // The second time, only the restored folder has the instructions.
      try office.removeReplaced()
      for _ in 1...2 {
        try await office.start { authority in
          let errors = try authority.servers.errors()
          #expect(errors.contains("a pause or withdrawn files"), "\(errors)")
        }
      }
    }
    try await office.run(
      "key-server", "device-configuration", "publish", "--root-key", safe.path)
    for _ in 1...2 {
      try await office.start { authority in
        let document = try await authority.servedDocument()
        #expect(document.pause?.until == 4_000_000_000)
        #expect(document.withdrawn.map(\.description) == [hash])
      }
    }
  }

  @Test("Revocations in a folder that was restored from an older backup are kept, each time")
  func olderBackup() async throws {
    let office = try await Office()
    let older = try await office.backUp("older")
    let newer = try await office.backUp("newer")
    try FileManager.default.removeItem(at: office.data)
    try await office.run("restore", older)
    for words in [
      ["verification-server", "api-key", "revoke", office.apiKey],
      ["verification-server", "api-token", "--replace"],
      ["verification-server", "signing-key", "revoke"], ["key-server", "signing-key", "revoke"],
      ["key-server", "app", "remove", "org.clinic"],
      ["key-server", "authority", "withdraw-key", "--issuer", "clinic", "--key-id", "v1"],
      ["key-server", "authority", "remove", "--issuer", "clinic"],
      ["console", "account", "disable", "--name", "Berta"],
      ["console", "account", "recover", "--name", "Celina"],
    ] {
      let run = try await Run(words + ["--data", office.data.path])
      #expect(run.status == 0, "\(words): \(run.errors)")
    }
    let facts = try await office.facts()
    for _ in 1...2 {
      let restored = try await office.run("restore", newer, "--replace")
      #expect(try await office.facts() == facts, "\(restored.errors)")
      // The second time, only the restored folder knows of them.
      try office.removeReplaced()
      for _ in 1...2 { try await office.start { _ in } }
    }
    #expect(try await office.facts() == facts)
  }
}
