// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing

/// Restorations after which the earlier data is in a PostgreSQL cluster only, and no earlier folder is left.
@Suite("Revocations in an earlier cluster", .needs(.process)) struct EarlierClusterTests {
  private let earlier: PrivatePostgreSQL

  init() async throws { earlier = try await Self.newCluster() }

  private static func newCluster() async throws -> PrivatePostgreSQL {
    let cluster = try await PrivatePostgreSQL()
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
    return cluster
  }

  /// A busy machine may need longer to connect than an operator would wait.
  private static func address(_ cluster: PrivatePostgreSQL) -> String {
    cluster.address() + " connect_timeout=60"
  }

  /// Servers with data in `earlier`, and what their backup has.
  private struct Scene {
    let authority: ServedAuthority
    let adminKey: String
    let apiToken: String
    let backup: String

    /// The lines of lists of what was revoked.
    static func facts(_ data: String, _ environment: [String: String]) async throws -> [String] {
      var facts: [String] = []
      for words in [
        ["verification-server", "api-key", "list"], ["verification-server", "api-token"],
        ["verification-server", "signing-key", "list"], ["key-server", "signing-key", "list"],
      ] {
        let run = try await Run(words + ["--data", data, "--json"], environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        facts.append(run.output)
      }
      return facts
    }
  }

  private func run(_ words: [String], _ data: String) async throws -> Run {
    let run = try await Run(
      words + ["--data", data], environment: ["DATABASE_URL": Self.address(earlier)])
    try #require(run.status == 0, "\(words): \(run.errors)")
    return run
  }

  /// Starts servers, makes a backup, and revokes everything after it.
  private func scene() async throws -> Scene {
    let authority = try await ServedAuthority(arguments: ["--database", Self.address(earlier)])
    let data = authority.servers.data
    let adminKey = try await run(
      ["verification-server", "api-key", "add", "--type", "admin"], data
    ).output.trimmingCharacters(in: .whitespacesAndNewlines)
    let apiToken = try await run(["verification-server", "api-token"], data).output
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let backup = authority.folder.path("backup").path
    _ = try await run(["backup", backup], data)
    for words in [
      ["verification-server", "api-key", "revoke", String(adminKey.prefix(16))],
      ["verification-server", "api-token", "--replace"],
      ["verification-server", "signing-key", "revoke"],
      ["key-server", "withdraw", Self.hash], ["key-server", "pause", "--until", "4000000000"],
      ["key-server", "signing-key", "revoke"],
    ] { _ = try await run(words, data) }
    return Scene(authority: authority, adminKey: adminKey, apiToken: apiToken, backup: backup)
  }

  @Test(
    "What was revoked after the backup in a cluster without folders stays so, in files and in another cluster"
  )
  func kept() async throws {
    let scene = try await scene()
    let environment = ["DATABASE_URL": Self.address(earlier)]
    let facts = try await Scene.facts(scene.authority.servers.data, environment)
    let before = try await scene.authority.servedDocument()
    #expect(before.withdrawn.count == 1 && before.pause != nil)
    #expect(try await scene.authority.servers.stop() == 0)
    for cluster in [nil, try await Self.newCluster()] {
      // No earlier folder is beside it.
      let place = try TemporaryFolder()
      let data = place.path("data").path
      var environment = cluster.map { ["DATABASE_URL": Self.address($0)] } ?? [:]
      environment["DATABASE_EARLIER_URL"] = Self.address(earlier)
      let restored = try await Run(
        ["restore", scene.backup, "--data", data], environment: environment)
      #expect(restored.status == 0, "\(restored.errors)")
      #expect(restored.errors.contains("Kept from the cluster of --earlier-database"))
      #expect(try await Scene.facts(data, environment) == facts)
      let authority = try await ServedAuthority(
        arguments: cluster.map { ["--database", Self.address($0)] } ?? [], in: place)
      let document = try await authority.servedDocument()
      #expect(document.version > before.version && document.keys == before.keys)
      #expect(document.withdrawn == before.withdrawn && document.pause == before.pause)
      let refused = try await authority.post(
        "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
        headers: ["X-API-Key": scene.adminKey])
      #expect(refused.status == 401)
      let old = try await authority.post(
        "\(authority.verification)/generateCode", #"{"data":{}}"#,
        headers: ["api-token": scene.apiToken])
      #expect(old.status == 403)
      #expect(try await authority.servers.stop() == 0)
    }
  }

  @Test(
    "Rules for codes are kept, withdrawals without a document are no obstacle, a missing state is named"
  )
  func incomplete() async throws {
    let scene = try await scene()
    #expect(try await scene.authority.servers.stop() == 0)
    let changed = try await ServedAuthority(
      ["verification/settings.json": #"{"codeLifetime":1200}"#],
      arguments: ["--database", Self.address(earlier)], in: scene.authority.folder)
    #expect(try await changed.servers.stop() == 0)
    // Older than a document lists, and not removed since the cluster has stopped.
    _ = try await earlier.run(
      "INSERT INTO withdrawn_file (sha256, withdrawn_at) VALUES (decode(repeat('cd', 32), 'hex'), 1)",
      in: "firebreak_keys")
    // As servers do that go on: the rules of a cluster that ended before the backup are older than its own.
    _ = try await earlier.run(
      "UPDATE server_state SET newest_time = extract(epoch FROM now())::bigint",
      in: "firebreak_verification")
    let sentence = "lacks the state that the processes shared"
    for isMissing in [false, true] {
      let place = try TemporaryFolder()
      let restored = try await Run(
        [
          "restore", scene.backup, "--data", place.path("data").path, "--earlier-database",
          Self.address(earlier),
        ])
      #expect(restored.status == 0, "\(restored.errors)")
      let named = restored.errors.components(separatedBy: sentence).count - 1
      #expect(named == (isMissing ? 2 : 0), "\(restored.errors)")
      let areKept = restored.errors.contains("the rules for new codes")
      #expect(areKept == !isMissing, "\(restored.errors)")
      if areKept {
        let settings = place.path("data/verification/settings.json")
        #expect(try String(contentsOf: settings, encoding: .utf8).contains("1200"))
      }
      for server in ["verification", "keys"] {
        _ = try await earlier.run("DELETE FROM shared_state", in: "firebreak_\(server)")
      }
    }
  }

  @Test("A cluster that is empty, or cannot be reached, is named, and nothing is restored")
  func refused() async throws {
    let scene = try await scene()
    #expect(try await scene.authority.servers.stop() == 0)
    let empty = try await Self.newCluster()
    let place = try TemporaryFolder()
    let restore = ["restore", scene.backup, "--data", place.path("data").path]
    let address = Self.address(empty)
    let refused = try await Run(restore + ["--earlier-database", address])
    #expect(refused.status == 2 && refused.errors.contains("--earlier-database"), "\(refused)")
    try await empty.kill()
    let away = try await Run(restore + ["--earlier-database", empty.address()])
    #expect(away.status == 3 && away.errors.contains("--earlier-database"), "\(away)")
    #expect(!FileManager.default.fileExists(atPath: place.path("data/keys").path))
    #expect(try await Run(restore).status == 0)
  }

  @Test(
    "A standby that was not promoted is named as such; after its promotion the revocations are kept",
    .timeLimit(.minutes(Patience.minutes)))
  func standby() async throws {
    let scene = try await scene()
    let facts = try await Scene.facts(
      scene.authority.servers.data, ["DATABASE_URL": Self.address(earlier)])
    #expect(try await scene.authority.servers.stop() == 0)
    let standby = try await PrivatePostgreSQL(follow: earlier)
    try await earlier.kill()
    let place = try TemporaryFolder()
    let data = place.path("data").path
    for attributes in ["", " target_session_attrs=any"] {
      let refused = try await Run(
        ["restore", scene.backup, "--data", data],
        environment: ["DATABASE_EARLIER_URL": Self.address(standby) + attributes])
      #expect(refused.status == 3 && refused.errors.contains("accepts no changes: "), "\(refused)")
      #expect(refused.errors.contains("Promote the standby") && !refused.errors.contains("damaged"))
      #expect(refused.errors.contains("--earlier-database: "))
      #expect(!FileManager.default.fileExists(atPath: place.path("data/keys").path))
    }
    try await standby.promote()
    let environment = ["DATABASE_EARLIER_URL": Self.address(standby)]
    let restored = try await Run(
      ["restore", scene.backup, "--data", data], environment: environment)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(try await Scene.facts(data, [:]) == facts)
  }

  private static let hash = String(repeating: "ab", count: 32)
}
