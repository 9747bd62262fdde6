// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import HealthAuthorityConsole
import ServedSystem
import Settings
import TestSupport
import Testing
import TextEncodings

@testable import ServerOperations

/// The audit log of a console before and after its upgrade from version 0.2.0, whose entries had no key.
@Suite("Upgrade of the audit log", .needs(.process))
struct AuditUpgradeTests {
  private let folder: TemporaryFolder
  private let data: String
  private let setup: ServerSetup

  init() throws {
    folder = try TemporaryFolder()
    data = folder.path("data").path
    setup = ServerSetup(folder: try ServerFolder(path: data)) { _ in }
  }

  /// Replaces the log by entries whose hashes are SHA-256, as an attacker who can write the database does.
  private func replaceLog(count: Int64, actor: String) throws {
    let queue = try DatabaseQueue(waitingAt: setup.folder.consoleDatabase.path)
    try queue.write { db in
      try db.execute(sql: "DELETE FROM audit")
      var head = String(repeating: "0", count: 64)
      for sequence in 1...count {
        var input = Data(head.utf8) + bigEndian(sequence) + bigEndian(1_800_000_000)
        let fields = [actor, "code.issued", "code \(sequence)", ""]
        for field in fields { input += bigEndian(Int64(field.utf8.count)) + Data(field.utf8) }
        let hash = Data(SHA256.hash(data: input))
        try db.execute(
          sql: "INSERT INTO audit VALUES (?, 1800000000, ?, ?, ?, ?, ?, ?)",
          arguments: [
            sequence, fields[0], fields[1], fields[2], fields[3], Data(hexadecimal: head), hash,
          ])
        head = hash.hexadecimal
      }
    }
    try queue.close()
  }

  private func bigEndian(_ number: Int64) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data($0) }
  }

  private func verify() async throws -> (status: Int32, entries: Int?, errors: String) {
    let run = try await Run("console", "audit", "verify", "--data", data, "--json")
    return (run.status, try run.json()?["entries"] as? Int, run.errors)
  }

  private func startConsole() async throws {
    let servers = try await ServedFirebreak(folder: folder, ["--only", "console"])
    _ = try await servers.addresses()
    #expect(try await servers.stop() == 0)
  }

  @Test("The log of a version without a key is upgraded once, by a start, and not by a check")
  func upgraded() async throws {
    try await setup.withConsole(isNew: true) { _ in }
    try replaceLog(count: 3, actor: "anna")
    var secrets = try #require(try setup.folder.consoleSecrets.read(ConsoleSecrets.self))
    #expect(secrets.auditStart == .empty)
    secrets.auditStart = nil
    try setup.folder.consoleSecrets.replace(secrets)
    for _ in 0..<2 {
      let found = try await verify()
      #expect(found.status == 1 && found.entries == 3, "\(found.errors)")
    }
    for _ in 0..<2 {
      try await startConsole()
      let found = try await verify()
      #expect(found.status == 0 && found.entries == 4, "\(found.errors)")
    }
    let stored = try setup.folder.consoleSecrets.read(ConsoleSecrets.self)?.auditStart
    #expect(stored?.entries == 3)
    // The entries of before, or others in their place, without the one that states them.
    for actor in ["anna", "eve"] {
      try replaceLog(count: 3, actor: actor)
      try await startConsole()
      #expect(try await verify().status == 1, "\(actor)")
    }
  }

  @Test("Secrets of before the upgrade that are restored accept the log again, which is reported")
  func restoredSecrets() async throws {
    try await setup.withConsole(isNew: true) { _ in }
    for name in ["Berta", "Carla"] {
      try replaceLog(count: 3, actor: "eve")
      var secrets = try #require(try setup.folder.consoleSecrets.read(ConsoleSecrets.self))
      secrets.auditStart = nil
      try setup.folder.consoleSecrets.replace(secrets)
      let run = try await Run(
        "console", "account", "add", "--role", "issuer", "--data", data, "--name", name)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.errors.contains("3 entries without a key accepted, head "))
    }
  }

  @Test(
    "A log that is replaced by entries without a key is found, also after the console has started")
  func replaced() async throws {
    let add = ["console", "account", "add", "--role", "issuer", "--data", data, "--name"]
    try await setup.withConsole(isNew: true) { _ in }
    #expect(try await Run(add + ["Anna"]).status == 0)
    #expect(try await verify().status == 0)
    try replaceLog(count: 5, actor: "eve")
    for name in ["Berta", "Carla"] {
      #expect(try await verify().status == 1)
      try await startConsole()
      #expect(try await verify().status == 1)
      #expect(try await Run(add + [name]).status == 0)
      #expect(try await verify().status == 1)
    }
    let export = try await Run("console", "audit", "export", "--data", data)
    #expect(export.status == 1)
  }
}
