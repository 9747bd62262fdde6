// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import QuietHTTP
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

/// The hash chain of the audit log.
@Suite struct AuditTests {
  static let key = ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32).map(
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

  private static func verified(
    _ entries: [AuditEntry], start: AuditStart? = .empty
  ) throws -> AuditChain {
    var chain = AuditChain(key: try #require(key), start: start)
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
    var text = AuditChain(key: try #require(Self.key), start: .empty)
    text.append(lines: "no entry")
    #expect(text.fault == "Line 1 is not an entry of an audit log.")
  }

  @Test("A chain that was computed again without the secret is found")
  func rewritten() throws {
    let (entries, forged) = (Self.chain(4), Self.chain(4, key: nil))
    #expect(try Self.verified(forged).fault?.contains("No entry was written with") == true)
    let mixed = [entries[0]] + forged.dropFirst()
    #expect(try Self.verified(mixed).fault?.hasPrefix("Entry 2") == true)
  }

  @Test("Entries without the secret are found after entries with it, also at the end of the chain")
  func appendedWithoutKey() throws {
    var entries = Self.chain(3)
    for sequence: Int64 in 4...5 {
      entries.append(
        AuditEntry(
          AuditEvent("eve", .codeIssued), sequence: sequence, time: 1_800_000_000,
          after: entries[entries.count - 1].hash, key: nil))
      #expect(
        try Self.verified(entries).fault
          == "Entry 4 was changed: its hash is not that of its fields.")
    }
  }

  @Test(
    "Entries without a key are accepted only before the entry that states them, and as it states")
  func beforeTheKey() throws {
    let old = Self.chain(4, key: nil)
    let start = AuditStart(entries: 4, head: old[3].hash)
    func keyed(_ action: AuditAction, after entries: [AuditEntry]) throws -> AuditEntry {
      AuditEntry(
        AuditEvent(AuditEvent.commandLine, action, detail: start.detail),
        sequence: Int64(entries.count) + 1, time: 1, after: try #require(entries.last).hash,
        key: Self.key)
    }
    let log = old + [try keyed(.auditKeyed, after: old)]
    #expect(try Self.verified(log, start: start).fault == nil)
    // Before this version has stored the start.
    #expect(try Self.verified(log, start: nil).fault == nil)
    // A console that never had entries without a key.
    #expect(try Self.verified(log, start: .empty).fault?.contains("were replaced") == true)
    for start in [start, nil, .empty] {
      #expect(try Self.verified(old, start: start).fault?.contains("was replaced") == true)
      let others =
        Array(old.prefix(3))
        + [
          AuditEntry(
            AuditEvent("eve", .codeIssued), sequence: 4, time: 1, after: old[2].hash, key: nil)
        ]
      #expect(try Self.verified(others + log.suffix(1), start: start).fault != nil)
      #expect(try Self.verified(others, start: start).fault != nil)
    }
    // An action that was recorded before the upgrade was complete.
    let early = old + [try keyed(.codeIssued, after: old)]
    for entries in [early, early + [try keyed(.auditKeyed, after: early)]] {
      #expect(try Self.verified(entries, start: start).fault == nil)
      for start in [nil, .empty, AuditStart(entries: 3, head: old[2].hash)] {
        #expect(try Self.verified(entries, start: start).fault?.contains("were replaced") == true)
      }
    }
    // Sealed again by an older version, with other entries.
    let replaced = Array(Self.chain(9, key: nil).dropLast(4))
    let sealed = replaced + [try keyed(.auditKeyed, after: replaced)]
    #expect(try Self.verified(sealed, start: start).fault?.contains("were replaced") == true)
    #expect(try Self.verified([], start: start).fault != nil)
    #expect(try Self.verified([], start: nil).fault == nil)
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
        for row in try db.rows(sql: "SELECT * FROM audit ORDER BY sequence") {
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

  /// Writes a log without a key, as an attacker who can write the database does.
  private static func replaceLog(_ database: ConsoleDatabase, with entries: [AuditEntry])
    async throws
  {
    try await database.write { db in
      try db.execute(sql: "DELETE FROM audit")
      for entry in entries {
        try db.execute(
          sql: "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            entry.sequence, entry.time, entry.actor, entry.action, entry.subject, entry.detail,
            Data(hexadecimal: entry.previousHash), Data(hexadecimal: entry.hash),
          ])
      }
    }
  }

  func database() throws -> (TemporaryFolder, ConsoleDatabase) {
    let folder = try TemporaryFolder()
    let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
    return (folder, try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys))
  }

  @Test("A log of the first version gets one entry with a key, in the upgrade and never again")
  func upgraded() async throws {
    let (folder, database) = try database()
    let old = Self.chain(3, key: nil)
    try await Self.replaceLog(database, with: old)
    var start: AuditStart?
    try await RunningConsole.run(in: folder.url) { console async throws in
      // Reading does not complete the upgrade.
      for _ in 0..<2 {
        let chain = try await console.administration.audit()
        #expect(chain.count == 3 && chain.fault?.contains("start the console once") == true)
        try await console.console.reportAudit()
      }
      start = try await console.administration.completeAuditUpgrade()
      #expect(start == AuditStart(entries: 3, head: old[2].hash))
      // An interruption before the start was stored.
      #expect(try await console.administration.completeAuditUpgrade() == start)
    }
    for _ in 0..<2 {
      try await RunningConsole.run(in: folder.url, configure: { $0.auditStart = start }) {
        console async throws in
        let chain = try await console.administration.audit()
        #expect(chain.fault == nil && chain.count == 4)
        let sealing = try #require(try await console.entries().last)
        #expect(sealing.contains("audit.keyed") && sealing.contains("3 entries before, head"))
      }
    }
    // Other entries, fewer and more. The same ones without those after them are a log that was cut, which only `--head`
    // finds.
    for entries in [Self.chain(2, key: nil), Self.chain(4, key: nil)] {
      try await Self.replaceLog(database, with: entries)
      try await RunningConsole.run(in: folder.url, configure: { $0.auditStart = start }) {
        console async throws in
        _ = try await console.administration.addAccount(
          name: "Anna \(entries.count)", role: .issuer)
        try await console.console.reportAudit()
        #expect(try await console.administration.audit().fault != nil)
        #expect(console.log.errors.contains { $0.contains("audit log is not intact") })
      }
    }
  }

  @Test("An upgraded log and its start that are restored together are intact, but not each alone")
  func restored() async throws {
    let (folder, database) = try database()
    let old = Self.chain(3, key: nil)
    try await Self.replaceLog(database, with: old)
    var start: AuditStart?
    let before = try Self.copy(folder.path("console.sqlite"), to: folder.path("before.sqlite"))
    try await RunningConsole.run(in: folder.url) { console async throws in
      start = try await console.administration.completeAuditUpgrade()
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
    }
    let after = try Self.copy(folder.path("console.sqlite"), to: folder.path("after.sqlite"))
    func restore(_ backup: URL, _ start: AuditStart?) throws -> ConsoleAdministration {
      let file = folder.path("restored-\(UUID().uuidString).sqlite")
      var configuration = ConsoleConfiguration(
        databaseFile: try Self.copy(backup, to: file), secret: Data(repeating: 7, count: 32))
      configuration.auditStart = start
      return try ConsoleAdministration(
        configuration, clock: ManualClock(RunningConsole.start), randomness: TestRandomness())
    }
    for _ in 1...2 {
      let together = try await restore(after, start).audit()
      #expect(together.fault == nil && together.count > 4)
      // Later secrets with an earlier log.
      #expect(try await restore(before, start).audit().fault?.contains("was replaced") == true)
      // Earlier secrets: the upgrade states the number and the head again.
      for backup in [before, after] {
        let again = try await restore(backup, nil).completeAuditUpgrade()
        #expect(again == AuditStart(entries: 3, head: old[2].hash))
      }
    }
  }

  /// Copies a database.
  private static func copy(_ source: URL, to target: URL) throws -> URL {
    let original = try DatabaseQueue(waitingAt: source.path)
    let copy = try DatabaseQueue(waitingAt: target.path)
    try original.backup(to: copy)
    try original.close()
    try copy.close()
    return target
  }

  @Test("An account that was added before the upgrade was complete leaves the log intact for good")
  func addedBeforeTheUpgrade() async throws {
    let (folder, database) = try database()
    let old = Self.chain(3, key: nil)
    try await Self.replaceLog(database, with: old)
    var start: AuditStart?
    try await RunningConsole.run(in: folder.url) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      start = try await console.administration.completeAuditUpgrade()
      #expect(start == AuditStart(entries: 3, head: old[2].hash))
    }
    for round in 1...2 {
      try await RunningConsole.run(in: folder.url, configure: { $0.auditStart = start }) {
        console async throws in
        let before = try await console.administration.audit()
        _ = try await console.administration.addAccount(name: "Jan \(round)", role: .issuer)
        let chain = try await console.administration.audit()
        #expect(before.fault == nil && chain.fault == nil && chain.count > before.count)
      }
    }
  }

  @Test(
    "A log that was replaced by entries without a key is found by every check, which writes nothing"
  )
  func replaced() async throws {
    let (folder, database) = try database()
    try await Self.replaceLog(database, with: Self.chain(5, key: nil))
    var configuration = ConsoleConfiguration(
      databaseFile: folder.path("console.sqlite"), secret: Data(repeating: 7, count: 32))
    configuration.auditStart = .empty
    for _ in 0..<2 {
      let reader = try ConsoleAdministration(reading: configuration)
      #expect(try await reader.audit().fault?.contains("was replaced") == true)
      #expect(try await reader.audit().count == 5)
      await #expect(throws: (any Error).self) { _ = try await reader.completeAuditUpgrade() }
    }
    let count = try await database.read { try $0.count(sql: "SELECT count(*) FROM audit") }
    #expect(count == 5)
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
