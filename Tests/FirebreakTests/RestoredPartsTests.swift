// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing

/// Restorations of folders that lack a server or a file, and of codes whose issuer was revoked where they are unknown.
@Suite("Restorations with missing parts", .needs(.process))
struct RestoredPartsTests {
  private let place: TemporaryFolder
  private var data: URL { place.path("data") }

  init() throws {
    place = try TemporaryFolder()
  }

  @discardableResult
  private func run(_ words: String...) async throws -> Run {
    let run = try await Run(words + ["--data", data.path])
    try #require(run.status == 0, "\(words): \(run.errors)")
    return run
  }

  /// Starts the servers, and stops them after `body`.
  private func start(_ body: (ServedAuthority) async throws -> Void) async throws {
    let authority = try await ServedAuthority(in: place)
    try await body(authority)
    #expect(try await authority.servers.stop() == 0)
  }

  private func remove(_ path: String) throws {
    try FileManager.default.removeItem(at: data.appendingPathComponent(path))
  }

  private func removeReplaced() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: place.url.path)
    where name.hasPrefix("data.replaced-") {
      try FileManager.default.removeItem(at: place.path(name))
    }
  }

  /// Issues a code with each API key and with the token of the ProteGO Safe contract.
  private func issueCodes(_ keys: [String], _ token: String) async throws {
    try await start { authority in
      for key in keys {
        let issued = try await authority.post(
          "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
          headers: ["X-API-Key": key])
        #expect(issued.status == 200)
      }
      let generated = try await authority.post(
        "\(authority.verification)/generateCode", #"{"data":{}}"#, headers: ["api-token": token])
      #expect(generated.status == 200)
    }
  }

  @Test("Codes of a revoked key or token end also if the folder of the revocation lacks them")
  func unknownCodes() async throws {
    try ServedAuthority.prepare(place)
    var keys: [String] = []
    for _ in 1...2 {
      let added = try await run("verification-server", "api-key", "add", "--type", "admin")
      keys.append(added.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    let token = try await run("verification-server", "api-token", "--add").output
    try await start { _ in }
    let (older, newer) = (place.path("older").path, place.path("newer").path)
    try await run("backup", older)
    try await issueCodes(keys, try #require(token.split(separator: "\n").last.map(String.init)))
    try await run("backup", newer)
    try FileManager.default.removeItem(at: data)
    try await run("restore", older)
    try await run("verification-server", "api-key", "revoke", String(keys[0].prefix(16)))
    try await run("verification-server", "api-token", "--replace")
    for round in 1...2 {
      let restored = try await run("restore", newer, "--replace")
      #expect(restored.errors.contains("ended codes, 2"), "\(restored.errors)")
      let live = try await DatabaseQueue(waitingAt: data.path + "/verification/verification.sqlite")
        .read { db in
          try String.fetchAll(
            db,
            sql: """
              SELECT coalesce(issuer, 'token') FROM issue
              WHERE max(expiresAt, longExpiresAt) >= unixepoch()
              """)
        }
      #expect(live == [String(keys[1].prefix(16))], "\(round)")
      // The second time, only the restored folder knows of the revocations.
      try removeReplaced()
      try await start { _ in }
    }
  }

  @Test("The revocations in a database are kept also if its secrets are lost, each time")
  func lostSecrets() async throws {
    let add = ["verification-server", "api-key", "add", "--type", "admin"]
    try FileManager.default.createDirectory(
      at: data.appendingPathComponent("verification"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data("{}".utf8).write(to: data.appendingPathComponent("verification/settings.json"))
    let key = try await Run(add + ["--data", data.path]).output.prefix(16)
    let backup = place.path("backup").path
    try await run("backup", backup)
    try await run("verification-server", "api-key", "revoke", String(key))
    for _ in 1...2 {
      try remove("verification/secrets.json")
      let restored = try await run("restore", backup, "--replace")
      #expect(restored.errors.contains("revoked API keys, 1"), "\(restored.errors)")
      try removeReplaced()
      let keys = try await run("verification-server", "api-key", "list")
      #expect(keys.output.contains("(revoked)"))
    }
  }

  @Test("A key server on its own machine keeps the token keys that were copied after the backup")
  func tokenKeys() async throws {
    try await ServedAuthority.prepareWithTokenKeys(place)
    let servers = try await ServedFirebreak(folder: place, ["--only", "keys"])
    _ = try await servers.addresses()
    #expect(try await servers.stop() == 0)
    try remove("verification")
    try remove("console")
    let backup = place.path("backup").path
    try await run("backup", backup)
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    let copied = try JSONEncoder().encode(["t2": key])
    try copied.write(to: data.appendingPathComponent("token-keys.json"))
    for _ in 1...2 {
      let restored = try await run("restore", backup, "--replace")
      #expect(restored.errors.contains("token-keys.json"), "\(restored.errors)")
      try removeReplaced()
      let file = try Data(contentsOf: data.appendingPathComponent("token-keys.json"))
      #expect(try JSONDecoder().decode([String: String].self, from: file) == ["t2": key])
    }
  }

  @Test("A server that the backup lacks is named, and its first account can be added again")
  func missingServer() async throws {
    try ServedAuthority.prepare(place)
    try await run("verification-server", "api-key", "add", "--type", "admin")
    let backup = place.path("backup").path
    try await run("backup", backup)
    let add = ["console", "account", "add", "--role", "administrator", "--data", data.path]
    for _ in 1...2 {
      #expect(try await Run(add + ["--name", "Anna"]).status == 0)
      let restored = try await run("restore", backup, "--replace")
      #expect(
        restored.errors.contains("Not restored, because the backup does not have it: console."),
        "\(restored.errors)")
    }
    #expect(try await Run(add + ["--name", "Anna"]).status == 0)
    try await start { _ in }
  }

  @Test("A lost device configuration is named, because a pause may have ended")
  func lostDocument() async throws {
    try await start { _ in }
    try await run("key-server", "pause", "--until", "4000000000")
    let backup = place.path("backup").path
    try await run("backup", backup)
    try await run("key-server", "resume")
    try remove("keys/device-configuration.json")
    let restored = try await run("restore", backup, "--replace")
    #expect(
      restored.errors.contains("The device configuration in \(data.path).replaced-"),
      "\(restored.errors)")
    try removeReplaced()
    let again = try await run("restore", backup, "--replace")
    #expect(!again.errors.contains("The device configuration in"), "\(again.errors)")
  }

  @Test("A pause is kept also if the backup has no device configuration, each time")
  func backupWithoutDocument() async throws {
    try await start { _ in }
    try remove("keys/device-configuration.json")
    let backup = place.path("backup").path
    try await run("backup", backup)
    try await run("key-server", "device-configuration", "publish")
    try await run("key-server", "pause", "--until", "4000000000")
    for _ in 1...2 {
      try await run("restore", backup, "--replace")
      try removeReplaced()
      try await start { authority in
        let pause = try await authority.servedDocument().pause
        #expect(pause?.until == 4_000_000_000)
      }
    }
  }
}
