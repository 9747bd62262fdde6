// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The hash chain of the audit log.
@Suite struct AuditTests {
  private static func chain(_ count: Int64) -> [AuditEntry] {
    var (entries, hash): ([AuditEntry], String) = ([], AuditEntry.zeroHash)
    for sequence in 1...count {
      let event = AuditEvent("anna", .codeIssued, "code \(sequence)", detail: "confirmed")
      let entry = AuditEntry(event, sequence: sequence, time: 1_800_000_000, after: hash)
      entries.append(entry)
      hash = entry.hash
    }
    return entries
  }

  private static func verified(_ entries: [AuditEntry]) -> AuditChain {
    var chain = AuditChain()
    chain.append(lines: entries.map(\.line).joined(separator: "\n"))
    return chain
  }

  @Test("An exported log is verified, and its head is the hash of the newest entry")
  func intact() {
    let entries = Self.chain(3)
    let verified = Self.verified(entries)
    #expect(verified.fault == nil && verified.count == 3 && verified.head == entries[2].hash)
    #expect(Self.verified([]).head == AuditEntry.zeroHash)
  }

  @Test("A removed, replaced or changed entry is found")
  func faults() {
    let entries = Self.chain(4)
    var removed = entries
    removed.remove(at: 1)
    #expect(Self.verified(removed).fault == "Entry 2 is missing: the log continues with entry 3.")
    let other = AuditEntry(
      AuditEvent("eve", .codeExpired), sequence: 2, time: 1, after: entries[0].hash)
    #expect(Self.verified([entries[0], other, entries[2]]).fault?.hasPrefix("Entry 3") == true)
    let old = entries[1]
    let changed = AuditEntry(
      sequence: 2, time: old.time, actor: "eve", action: old.action, subject: old.subject,
      detail: old.detail, previousHash: old.previousHash, hash: old.hash)
    #expect(
      Self.verified([entries[0], changed, entries[2]]).fault
        == "Entry 2 was changed: its hash is not that of its fields.")
    var text = AuditChain()
    text.append(lines: "no entry")
    #expect(text.fault == "Line 1 is not an entry of an audit log.")
  }

  @Test("Text that moves from one field to the next changes the hash")
  func fields() {
    func hash(_ subject: String, _ detail: String) -> String {
      AuditEntry(
        AuditEvent("a", .failed, subject, detail: detail), sequence: 1, time: 1,
        after: AuditEntry.zeroHash
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
      var chain = AuditChain()
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
