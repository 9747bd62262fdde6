// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// Keys, codes, accounts and files that were revoked after a backup stay revoked when it is restored, each time.
@Suite("Revocations after a backup", .needs(.process))
struct RestoredRevocationTests {
  private static let clinic = ["--issuer", "clinic"]

  /// Servers with something to revoke: API keys, a code of each, an authority, accounts, and a key file.
  private struct Scene {
    let authority: ServedAuthority
    let adminKey: String
    let uuid: String
    let apiToken: String
    let backup: String

    func run(_ words: [String]) async throws {
      let run = try await Run(words + ["--data", authority.servers.data])
      try #require(run.status == 0, "\(words): \(run.errors)")
    }
  }

  /// The arguments of an authority with one key.
  private static func key(_ file: String, of issuer: String) -> [String] {
    ["--issuer", issuer, "--audience", "keys", "--key-id", "v1", "--public-key", file]
  }

  /// The scene that every test begins with, in a folder of which each gets a copy. Its servers have stopped.
  private static let template = Task {
    let scene = try await makeScene()
    scene.authority.folder.removeAtExit()
    #expect(try await scene.authority.servers.stop() == 0)
    return (
      place: scene.authority.folder, adminKey: scene.adminKey, uuid: scene.uuid,
      apiToken: scene.apiToken
    )
  }

  private func scene() async throws -> Scene {
    let template = try await Self.template.value
    let authority = try await ServedAuthority(
      ServedAuthority.frequentExports, in: try template.place.copy())
    return Scene(
      authority: authority, adminKey: template.adminKey, uuid: template.uuid,
      apiToken: template.apiToken, backup: authority.folder.path("backup").path)
  }

  private static func makeScene() async throws -> Scene {
    let authority = try await ServedAuthority(ServedAuthority.frequentExports)
    try await authority.publishKey()
    let file = authority.folder.path("public.pem")
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(to: file)
    let adminKey = try await authority.apiKey("admin")
    let issued = try await authority.post(
      "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
      headers: ["X-API-Key": adminKey])
    let apiToken = try await authority.run("verification-server", "api-token").output
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let scene = Scene(
      authority: authority, adminKey: adminKey,
      uuid: try #require(issued.json["uuid"] as? String), apiToken: apiToken,
      backup: authority.folder.path("backup").path)
    for issuer in ["clinic", "removed"] {
      try await scene.run(["key-server", "authority", "add"] + key(file.path, of: issuer))
    }
    try await scene.run(
      ["key-server", "app", "add", "org.removed", "--region", "PL", "--authority", "removed"])
    for name in ["Anna", "Berta", "Celina"] {
      try await scene.run(
        ["console", "account", "add", "--role", "administrator", "--name", name])
    }
    return scene
  }

  private func revokeAll(_ scene: Scene) async throws {
    let line = try #require(try await scene.authority.indexLines().first)
    let file = scene.authority.folder.path("data/exports/\(line)")
    for words in [
      ["verification-server", "api-key", "revoke", String(scene.adminKey.prefix(16))],
      ["verification-server", "api-token", "--replace"],
      ["verification-server", "signing-key", "revoke"],
      ["key-server", "withdraw", file.path], ["key-server", "pause", "--until", "4000000000"],
      ["key-server", "authority", "withdraw-key", "--key-id", "v1"] + Self.clinic,
      ["key-server", "app", "remove", "org.removed"],
      ["key-server", "authority", "remove", "--issuer", "removed"],
      ["key-server", "signing-key", "revoke"],
      ["console", "account", "disable", "--name", "Berta"],
      ["console", "account", "recover", "--name", "Celina"],
    ] { try await scene.run(words) }
  }

  /// The rows of a query, as text.
  private func rows(_ data: String, _ database: String, _ query: String) async throws -> [String] {
    try await DatabaseQueue(waitingAt: "\(data)/\(database).sqlite").read { db in
      try Row.fetchAll(db, sql: query).map(\.description)
    }
  }

  /// The facts that must not come back.
  private func facts(_ data: String) async throws -> [String] {
    var facts: [String] = []
    for words in [
      ["verification-server", "api-key", "list"], ["verification-server", "api-token"],
      ["verification-server", "signing-key", "list"], ["key-server", "signing-key", "list"],
      ["key-server", "authority", "list"], ["key-server", "app", "list"],
    ] {
      let run = try await Run(words + ["--data", data, "--json"])
      #expect(run.status == 0, "\(run.errors)")
      facts.append(run.output)
    }
    return try await facts
      + rows(
        data, "console/console",
        "SELECT name, disabled_at IS NULL, password_hash FROM account ORDER BY name")
  }

  @Test(
    "Keys, tokens, codes and accounts that were revoked after the backup stay so, each time",
    arguments: [false, true])
  func kept(isMovedByHand: Bool) async throws {
    let scene = try await scene()
    var authority = scene.authority
    let (place, data) = (authority.folder, authority.servers.data)
    try await scene.run(["backup", scene.backup])
    try await revokeAll(scene)
    let (facts, before) = (try await facts(data), try await authority.servedDocument())
    #expect(before.withdrawn.count == 2 && before.pause != nil)
    for round in 1...2 {
      let names = try await authority.indexLines()
      #expect(try await authority.servers.stop() == 0)
      var words = ["restore", scene.backup, "--data", data]
      if isMovedByHand {
        try FileManager.default.moveItem(
          at: place.path("data"), to: place.path("damaged \(round)"))
      } else {
        words.append("--replace")
      }
      let restored = try await Run(words)
      #expect(restored.status == 0, "\(restored.errors)")
      #expect(!restored.errors.contains("Not kept from"), "\(restored.errors)")
      #expect(try await self.facts(data) == facts)
      authority = try await ServedAuthority(ServedAuthority.frequentExports, in: place)
      let document = try await authority.servedDocument()
      #expect(document.version > before.version && document.keys == before.keys)
      #expect(document.withdrawn == before.withdrawn && document.pause == before.pause)
      try await check(scene, authority)
      try await authority.publishKey()
      #expect(try await authority.verifiedFileCount() >= 2)
      #expect(Set(try await authority.indexLines()).isDisjoint(with: names))
    }
    #expect(try await authority.servers.stop() == 0)
  }

  /// Checks that neither the keys nor the code of the backup are accepted.
  private func check(_ scene: Scene, _ authority: ServedAuthority) async throws {
    let issue = "\(authority.verification)/api/issue"
    let refused = try await authority.post(
      issue, #"{"testType":"confirmed"}"#, headers: ["X-API-Key": scene.adminKey])
    #expect(refused.status == 401)
    let old = try await authority.post(
      "\(authority.verification)/generateCode", #"{"data":{}}"#,
      headers: ["api-token": scene.apiToken])
    #expect(old.status == 403)
    let codes = try await rows(
      authority.servers.data, "verification/verification",
      "SELECT id FROM issue WHERE issuer IS NOT NULL AND longExpiresAt >= unixepoch()")
    #expect(codes.isEmpty)
    #expect(try await authority.run("console", "audit", "verify").status == 0)
  }

  @Test(
    "A folder from before the backup, or restored from an older one, takes nothing back",
    arguments: [false, true])
  func older(isRestored: Bool) async throws {
    let scene = try await scene()
    let (place, data) = (scene.authority.folder, scene.authority.servers.data)
    #expect(try await scene.authority.servers.stop() == 0)
    try await scene.run(["console", "account", "disable", "--name", "Berta"])
    try await scene.run(["backup", scene.backup])
    if !isRestored {
      try FileManager.default.copyItem(at: place.path("data"), to: place.path("old"))
    }
    try await add(scene)
    let newer = place.path("newer").path
    try await scene.run(["backup", newer])
    let before = try await facts(data)
    try FileManager.default.removeItem(atPath: data)
    if isRestored { try await scene.run(["restore", scene.backup]) }
    for _ in 1...2 {
      let restored = try await Run("restore", newer, "--replace", "--data", data)
      #expect(restored.status == 0, "\(restored.errors)")
      #expect(restored.errors.contains("may be older than the backup"), "\(restored.errors)")
      #expect(try await facts(data) == before)
    }
  }

  /// Changes that a folder from before must not undo.
  private func add(_ scene: Scene) async throws {
    let file = scene.authority.folder.path("public.pem").path
    for words in [
      ["key-server", "authority", "add"] + Self.key(file, of: "lab"),
      ["verification-server", "api-key", "add", "--type", "device"],
      ["verification-server", "api-token", "--replace"],
      ["verification-server", "signing-key", "revoke"], ["key-server", "signing-key", "revoke"],
      ["console", "account", "enable", "--name", "Berta"],
      ["console", "account", "recover", "--name", "Celina"],
      ["console", "account", "add", "--role", "issuer", "--name", "Dora"],
    ] { try await scene.run(words) }
  }

  @Test("A key of an authority that was replaced under its id stays so, and the authority is named")
  func replacedKey() async throws {
    let scene = try await scene()
    let (place, data) = (scene.authority.folder, scene.authority.servers.data)
    try await scene.run(["backup", scene.backup])
    #expect(try await scene.authority.servers.stop() == 0)
    let file = place.path("other.pem")
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(to: file)
    try await scene.run(["key-server", "authority", "remove"] + Self.clinic)
    try await scene.run(["key-server", "authority", "add"] + Self.key(file.path, of: "clinic"))
    for _ in 1...2 {
      let restored = try await Run("restore", scene.backup, "--replace", "--data", data)
      #expect(restored.status == 0, "\(restored.errors)")
      #expect(restored.errors.contains("repeat them for clinic"), "\(restored.errors)")
      let keys = "SELECT public_key FROM authority_key WHERE issuer = 'clinic'"
      #expect(try await rows(data, "keys/keys", keys).isEmpty)
    }
  }

  @Test("A lost part of the earlier folder is named, and the pause outlives a lost document")
  func lostParts() async throws {
    let scene = try await scene()
    let (place, data) = (scene.authority.folder, scene.authority.servers.data)
    try await scene.run(["backup", scene.backup])
    try await scene.run(["key-server", "pause", "--until", "4000000000"])
    #expect(try await scene.authority.servers.stop() == 0)
    for name in [
      "keys/device-configuration.json", "verification/secrets.json",
      "verification/verification.sqlite",
    ] { try FileManager.default.removeItem(at: place.path("data/\(name)")) }
    let restored = try await Run("restore", scene.backup, "--replace", "--data", data)
    #expect(restored.status == 0, "\(restored.errors)")
    for sentence in [
      "The secrets of the verification server", "The database of the verification server",
      "may be valid again (verification server)",
    ] { #expect(restored.errors.contains(sentence), "\(restored.errors)") }
    let again = try await ServedAuthority(in: place)
    #expect(try await again.servedDocument().pause?.until == 4_000_000_000)
    #expect(try await again.servers.stop() == 0)
  }

  @Test("Signing keys that have diverged from those of the backup are named, and not taken over")
  func diverged() async throws {
    let scene = try await scene()
    let (place, data) = (scene.authority.folder, scene.authority.servers.data)
    #expect(try await scene.authority.servers.stop() == 0)
    try await scene.run(["backup", scene.backup])
    let revoke = ["verification-server", "signing-key", "revoke"]
    try await scene.run(revoke)
    let newer = place.path("newer").path
    try await scene.run(["backup", newer])
    let facts = try await facts(data)
    try FileManager.default.removeItem(atPath: data)
    try await scene.run(["restore", scene.backup])
    try await scene.run(revoke)
    let restored = try await Run("restore", newer, "--replace", "--data", data)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(
      restored.errors.contains("The signing keys of the verification server"),
      "\(restored.errors)")
    #expect(try await self.facts(data) == facts)
  }

  @Test("Without the earlier folder the command says so, and phones accept the document")
  func without() async throws {
    let scene = try await scene()
    let data = scene.authority.servers.data
    try await scene.run(["backup", scene.backup])
    try await scene.run(["key-server", "pause"])
    let before = try await scene.authority.servedDocument()
    #expect(try await scene.authority.servers.stop() == 0)
    // The versions of several changes in one second are ahead of the time, which the new document begins with.
    try await Patience.until { Int(SystemClock().now.timeIntervalSince1970) > before.version }
    try FileManager.default.removeItem(atPath: data)
    let restored = try await Run("restore", scene.backup, "--data", data)
    #expect(restored.status == 0 && restored.errors.contains("may be valid again"))
    let again = try await ServedAuthority(in: scene.authority.folder)
    #expect(try await again.servedDocument().version > before.version)
    #expect(try await again.servers.stop() == 0)
  }

  @Test("A folder is not replaced while its servers run, by a damaged backup, or by one in it")
  func notReplaced() async throws {
    let scene = try await scene()
    let data = scene.authority.servers.data
    try await scene.run(["backup", scene.backup])
    let replace = { (backup: String) in
      try await Run("restore", backup, "--replace", "--data", data)
    }
    let running = try await replace(scene.backup)
    #expect(running.status == 2 && running.errors.contains("already runs"), "\(running.errors)")
    #expect(try await scene.authority.servers.stop() == 0)
    let facts = try await facts(data)
    let damaged = scene.authority.folder.path("half")
    try Data(contentsOf: URL(fileURLWithPath: scene.backup)).prefix(1_000).write(to: damaged)
    #expect(try await replace(damaged.path).status == 2)
    #expect(try await self.facts(data) == facts)
    let inside = data + "/backup"
    try FileManager.default.copyItem(atPath: scene.backup, toPath: inside)
    let refused = try await replace(inside)
    #expect(refused.status == 2 && refused.errors.contains("move it out"), "\(refused.errors)")
    #expect(try await self.facts(data) == facts)
  }
}
