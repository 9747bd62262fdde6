// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

/// The hash chain of the audit log.
@Suite struct AuditTests {
  private static let key = ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32).map(
    AuditKey.init)

  private static func chain(_ count: Int64, key: AuditKey? = Self.key) -> [AuditEntry] {
    var (entries, hash): ([AuditEntry], String) = ([], AuditEntry.zeroHash)
    for sequence in 1...count {
      let event = AuditEvent("anna", .codeIssued, "code \(sequence)", detail: "confirmed")
      let entry = AuditEntry(event, sequence: sequence, time: 1_800_000_000, after: hash, key: key)
      entries.append(entry)
      hash = entry.hash
    }
    return entries
  }

  private static func verified(_ entries: [AuditEntry]) throws -> AuditChain {
    var chain = AuditChain(key: try #require(key))
    chain.append(lines: entries.map(\.line).joined(separator: "\n"))
    return chain
  }

  @Test("An exported log is verified, and its head is the hash of the newest entry")
  func intact() throws {
    let entries = Self.chain(3)
    let verified = try Self.verified(entries)
    #expect(verified.fault == nil && verified.count == 3 && verified.head == entries[2].hash)
    #expect(try Self.verified([]).head == AuditEntry.zeroHash)
  }

  @Test("A removed, replaced or changed entry is found")
  func faults() throws {
    let entries = Self.chain(4)
    var removed = entries
    removed.remove(at: 1)
    #expect(
      try Self.verified(removed).fault == "Entry 2 is missing: the log continues with entry 3.")
    let other = AuditEntry(
      AuditEvent("eve", .codeExpired), sequence: 2, time: 1, after: entries[0].hash, key: Self.key)
    #expect(try Self.verified([entries[0], other, entries[2]]).fault?.hasPrefix("Entry 3") == true)
    let old = entries[1]
    let changed = AuditEntry(
      sequence: 2, time: old.time, actor: "eve", action: old.action, subject: old.subject,
      detail: old.detail, previousHash: old.previousHash, hash: old.hash)
    #expect(
      try Self.verified([entries[0], changed, entries[2]]).fault
        == "Entry 2 was changed: its hash is not that of its fields.")
    var text = AuditChain(key: try #require(Self.key))
    text.append(lines: "no entry")
    #expect(text.fault == "Line 1 is not an entry of an audit log.")
  }

  @Test("A chain that was computed again without the secret is found")
  func rewritten() throws {
    let (entries, forged) = (Self.chain(4), Self.chain(4, key: nil))
    #expect(try Self.verified(forged).fault?.contains("No entry was written with") == true)
    let mixed = [entries[0]] + forged.dropFirst()
    #expect(try Self.verified(mixed).fault?.hasPrefix("Entry 2") == true)
    // The first entry with a key covers the entries of the first versions.
    let upgrade = AuditEntry(
      AuditEvent("anna", .auditKeyed), sequence: 5, time: 1, after: forged[3].hash, key: Self.key)
    #expect(try Self.verified(forged + [upgrade]).fault == nil)
    let other = Self.chain(4, key: nil).enumerated().map { index, entry in
      index < 3
        ? entry
        : AuditEntry(
          AuditEvent("eve", .codeIssued), sequence: 4, time: 1, after: entry.previousHash, key: nil)
    }
    let fault = try Self.verified(other + [upgrade]).fault
    #expect(fault?.hasPrefix("Entry 5 does not follow") == true)
  }

  @Test("Changed actors with recomputed hashes are found by the page and the command, and logged")
  func recomputed() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      for number in 0..<3 {
        _ = try await browser.request("/accounts", ["name": "Anna \(number)b", "role": "issuer"])
      }
      try await console.console.reportAudit()
      #expect(console.log.lines.contains { $0.contains("entries, head ") })
      let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
      let database = try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys)
      try await database.write { db in
        var hash = AuditEntry.zeroHash
        for row in try Row.fetchAll(db, sql: "SELECT * FROM audit ORDER BY sequence") {
          let old = AuditEntry(row)
          let action = try #require(AuditAction(rawValue: old.action))
          let new = AuditEntry(
            AuditEvent("eve", action, old.subject, detail: old.detail), sequence: old.sequence,
            time: old.time, after: hash, key: nil)
          hash = new.hash
          try db.execute(
            sql: "UPDATE audit SET actor = ?, previous_hash = ?, hash = ? WHERE sequence = ?",
            arguments: [
              new.actor, Data(hexadecimal: new.previousHash), Data(hexadecimal: new.hash),
              new.sequence,
            ])
        }
      }
      #expect(try await console.administration.audit().fault != nil)
      let page = try await browser.get("/audit")
      #expect(page.element("verdict")?.contains("was replaced") == true)
      try await console.console.reportAudit()
      #expect(console.log.errors.contains { $0.contains("audit log is not intact") })
    }
  }

  @Test("A log of the first version gets one entry with a key, at the first start of this one")
  func upgraded() async throws {
    let folder = try TemporaryFolder()
    let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
    let database = try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys)
    let old = Self.chain(3, key: nil)
    try await database.write { db in
      for entry in old {
        try db.execute(
          sql: "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            entry.sequence, entry.time, entry.actor, entry.action, entry.subject, entry.detail,
            Data(hexadecimal: entry.previousHash), Data(hexadecimal: entry.hash),
          ])
      }
      try db.execute(sql: "INSERT INTO audit_upgrade VALUES (3)")
    }
    try await RunningConsole.run(in: folder.url) { console async throws in
      for _ in 0..<2 {
        let chain = try await console.administration.audit()
        #expect(chain.fault == nil && chain.count == 4)
      }
    }
  }

  @Test("A failed sign-in is recorded with the name of its account and its network")
  func failedSignIn() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      for name in ["anna", "my secret password"] {
        _ = try await console.browser().post(
          "/sign-in", ["name": name, "password": "x", "code": "1"])
      }
      let refused = try await console.entries().map {
        try JSONDecoder().decode(AuditEntry.self, from: Data($0.utf8))
      }.filter { $0.action == "session.refused" }
      #expect(refused.map(\.subject) == ["Anna", ""])
      #expect(refused.allSatisfy { $0.detail == "from 127.0.0.0/24" })
    }
  }

  @Test(
    "A name that looks like another account or like the operator is refused",
    arguments: ["аnna", "ANNA", "Anпa", "Αnna", "cоmmand line", "command Iine", "ann а"])
  func lookAlikes(name: String) async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      if name == "Anпa" {
        // This letter looks like no Latin one.
        _ = try await console.administration.addAccount(name: name, role: .issuer)
      } else {
        await #expect(throws: ConsoleError.self) {
          _ = try await console.administration.addAccount(name: name, role: .issuer)
        }
      }
    }
  }

  @Test("Text that moves from one field to the next changes the hash")
  func fields() {
    func hash(_ subject: String, _ detail: String) -> String {
      AuditEntry(
        AuditEvent("a", .failed, subject, detail: detail), sequence: 1, time: 1,
        after: AuditEntry.zeroHash, key: Self.key
      ).hash
    }
    #expect(hash("ab", "c") != hash("a", "bc"))
  }

  @Test("The page shows that the chain is intact, and the export can be verified elsewhere")
  func page() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      let page = try await browser.get("/audit")
      let count = try await console.entries().count
      #expect(page.element("verdict") == "All \(count) entries are intact.")
      let export = try await browser.post("/audit/export", [:])
      #expect(export.status == 200)
      var chain = console.administration.auditChain()
      chain.append(lines: export.text)
      #expect(chain.fault == nil && chain.count == Int64(count) + 1)
      #expect(try await console.administration.audit().head == chain.head)
    }
  }

  @Test("A row that was changed in the database is reported")
  func changedRow() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      let keys = try #require(
        ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
      let database = try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys)
      try await database.write {
        try $0.execute(sql: "UPDATE audit SET actor = 'eve' WHERE sequence = 1")
      }
      let page = try await browser.get("/audit")
      #expect(page.element("verdict")?.contains("Entry 1 was changed") == true)
      #expect(try await console.administration.audit().fault != nil)
    }
  }

  @Test("A database does not open with another secret")
  func otherSecret() throws {
    let folder = try TemporaryFolder()
    func open(_ byte: UInt8) throws {
      let configuration = ConsoleConfiguration(
        databaseFile: folder.path("console.sqlite"), secret: Data(repeating: byte, count: 32))
      _ = try ConsoleAdministration(
        configuration, clock: ManualClock(RunningConsole.start), randomness: TestRandomness())
    }
    try open(1)
    try open(1)
    #expect(throws: ConsoleError.otherSecret) { try open(2) }
  }
}
