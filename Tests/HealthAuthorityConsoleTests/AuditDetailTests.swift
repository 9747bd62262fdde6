// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The details of the audit log on pages.
@Suite struct AuditDetailTests {
  private static func shown(
    _ action: AuditAction, _ detail: String, _ language: ConsoleLanguage = .polish
  ) throws -> String {
    let zone = try #require(TimeZone(identifier: "Europe/Warsaw"))
    let entry = AuditEntry(
      sequence: 1, time: 1, actor: "Anna", action: action.rawValue, subject: "x", detail: detail,
      previousHash: "", hash: "")
    return AuditDetail.text(of: entry, Texts(language, zone: zone))
  }

  @Test(
    "Details that the console has written are in the language of the page",
    arguments: [
      (AuditAction.signedIn, "password and code", "hasło i kod"),
      (
        .signInFailed, "20 more, passkey, from other networks",
        "dalsze: 20, klucz dostępu, z innych sieci"
      ),
      (.nameLocked, "from 192.0.2.0/24", "z 192.0.2.0/24"),
      (.accountAdded, "issuer", "wydawca kodów"), (.accountAdded, "12 accounts", "konta: 12"),
      (.codeIssued, "confirmed", "potwierdzony"), (.batchIssued, "4 codes", "kody: 4"),
      (.batchIssued, "4 codes by SMS", "kody SMS-em: 4"),
      (.paused, "until resumed", "do wznowienia"),
      (.failed, "code.issued: unavailable", "wydanie kodu: serwer nie odpowiada"),
      (.withdrawn, "2 files: ab cd", "pliki (2): ab cd"),
      (.accountDisabled, "withdrawn: change 3", "wycofane wnioski: change 3"),
      (.authorityAdded, "key k1, SHA-256 ab, audience unchanged", "odbiorca bez zmian"),
      (
        .codeRulesChanged,
        "PIN 1800 s, short code 900 s and 8 digits, long code 86400 s, date not required",
        "data niewymagana"
      ),
      (
        .changeRequested, "SHA-256 ab, alone, phones.paused (2 hours): The last file may be wrong",
        "SHA-256 ab, samodzielnie, wstrzymanie telefonów (godziny: 2): The last file may be wrong"
      ),
      (.changeRequested, "SHA-256 ab, phones.paused (until resumed): x", " (do wznowienia): x"),
      (.changeRequested, "SHA-256 ab, account.added Anna (issuer): x", " Anna (wydawca kodów): x"),
    ])
  func polish(action: AuditAction, stored: String, shown: String) throws {
    let text = try Self.shown(action, stored)
    #expect(text.contains(shown), "\(text)")
  }

  @Test("The end of a pause is a time of the office, and a failed action has words")
  func english() throws {
    #expect(
      try Self.shown(.paused, "until 1800007200", .english) == "until 2027-01-15 11:00 CET")
    #expect(try Self.shown(.paused, "until 1800007200") == "do 2027-01-15 11:00 CET")
    #expect(
      try Self.shown(.failed, "code.issued: refused", .english) == "code issued: refused")
    #expect(try Self.shown(.codeIssued, "likely", .english) == "likely")
  }

  @Test("What a person has typed is not translated, and unknown details stay as they are")
  func typed() throws {
    #expect(try Self.shown(.proposed, "confirmed") == "confirmed")
    #expect(try Self.shown(.passkeyAdded, "issuer") == "issuer")
    #expect(try Self.shown(.changeRequested, "no hash") == "no hash")
    #expect(
      try Self.shown(.changeRequested, "SHA-256 ab, new.action x: confirmed")
        == "SHA-256 ab, new.action x: confirmed")
    for typed in [
      "account.disabled Anna (issuer): new post", "account.added Anna: as agreed (issuer): today",
      "phones.paused (2 hours): for (2 hours): no more",
    ] {
      let text = try Self.shown(.changeRequested, "SHA-256 ab, \(typed)")
      let reason = try #require(typed.split(separator: ":", maxSplits: 1).last)
      #expect(text.hasSuffix(reason), "\(text)")
    }
    #expect(
      try Self.shown(.changeRequested, "SHA-256 ab, account.disabled Anna (issuer): new post")
        .hasSuffix(" Anna (issuer): new post"))
    #expect(try Self.shown(.codeIssued, "new detail") == "new detail")
  }

  @Test("A Polish page of the log has Polish details, and the export has the stored ones")
  func page() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator, language: "pl")
      let uuid = try await browser.get("/codes/new").field("uuid")
      _ = try await browser.post("/codes", ["uuid": uuid, "test": "confirmed"])
      let page = try await browser.get("/audit?action=code.issued").text
      #expect(page.contains("<td>potwierdzony</td>") && !page.contains("<td>confirmed</td>"))
      #expect(try await console.entries().contains { $0.contains(#""detail":"confirmed""#) })
    }
  }
}
