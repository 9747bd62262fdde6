// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing
import TextEncodings
import World

@testable import HealthAuthorityConsole

/// The basis of an approval: the effect that was shown, the people, and the outcome.
@Suite struct ChangeApprovalTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func database() throws -> ConsoleDatabase {
    let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
    return try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys)
  }

  // MARK: - The effect

  @Test(
    "The key of an authority is shown by its fingerprint, and replaces no other key or audience")
  func authorityKey() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let keys = (0..<2).map { _ in P256.Signing.PrivateKey().publicKey }
      func form(_ key: Int, audience: String = "a", id: String = "v9") -> [String: String] {
        ["issuer": "de", "audience": audience, "key-id": id, "pem": keys[key].pemRepresentation]
      }
      let prints = keys.map { SHA256.hash(data: $0.derRepresentation).hexadecimal }
      let pages = [
        try await anna.post("/keys/authorities", form(0)).text,
        try await anna.post("/keys/authorities", form(1)).text,
      ]
      #expect(pages[0].contains(prints[0]) && !pages[0].contains(prints[1]))
      #expect(pages[1].contains(prints[1]) && !pages[1].contains(prints[0]))
      #expect(pages[0].contains("Audience of its certificates: a"))
      let number = try await anna.request("/keys/authorities", form(0))
      #expect(try await berta.get("/changes").text.contains(prints[0]))
      console.authority.state.authorities = [stored(keys[1])]
      let replaced = try await berta.post("/changes/\(number)/approve", [:])
      #expect(replaced.status == 409)
      #expect(replaced.element("fault")?.contains("has another key with the id v9") == true)
      for fields in [form(0), form(1, audience: "b")] {
        let page = try await anna.post("/keys/authorities", fields)
        #expect(page.status == 422, "\(page.element("fault") ?? "")")
      }
      #expect(console.authority.state.authorities == [stored(keys[1])])
      console.authority.state.authorities = []
      #expect(try await berta.post("/changes/\(number)/approve", [:]).status == 200)
      let entries = try await console.entries().filter { $0.contains(prints[0]) }
      #expect(entries.count == 2 && entries.allSatisfy { $0.contains("audience a") })
    }
  }

  private func stored(_ key: P256.Signing.PublicKey) -> AuthorityFacts {
    AuthorityFacts(
      issuer: "de", audience: "a", keyIDs: ["v9"], publicKeysPEM: ["v9": key.pemRepresentation])
  }

  @Test("An approval of an effect that has changed since the page was shown carries nothing out")
  func changedEffect() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let app = try await anna.request(
        "/keys/apps", ["app": "org.new", "regions": "PL", "authorities": "pl"])
      let shown = try await berta.effect(of: "\(app)")
      let present = AppFacts(id: "org.new", regions: ["DE"], authorities: ["de"])
      console.authority.state.apps = [present]
      let refused = try await berta.post("/changes/\(app)/approve", ["effect": shown])
      #expect(refused.status == 409 && refused.text.contains("It replaces the present entry"))
      #expect(refused.element("fault")?.contains("effect has changed") == true)
      #expect(console.authority.state.apps == [present])
      #expect(try await berta.post("/changes/\(app)/approve", ["effect": ""]).status == 409)
      #expect(try await berta.post("/changes/\(app)/approve", [:]).status == 200)
    }
  }

  @Test("Copies that were added since the page was shown are not withdrawn with the file")
  func addedCopies() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      console.authority.state.exports = [try Self.export("", "0b")]
      let hash = String(repeating: "0b", count: 32)
      let number = try await anna.request("/phones/withdraw", ["hash": hash])
      let shown = try await berta.effect(of: "\(number)")
      console.authority.state.exports.append(try Self.export("PL", "0e"))
      let refused = try await berta.post("/changes/\(number)/approve", ["effect": shown])
      #expect(refused.status == 409 && console.authority.state.withdrawn.isEmpty)
      #expect(try await berta.post("/changes/\(number)/approve", [:]).status == 200)
      #expect(console.authority.state.withdrawn.count == 2)
    }
  }

  private static func export(_ root: String, _ byte: String) throws -> ExportFacts {
    let hash = try #require(KeyFileHash(hex: String(repeating: byte, count: 32)))
    return ExportFacts(
      root: root, region: "PL", periodSeconds: 14_400, keysMin: 500,
      nextFile: RunningConsole.start,
      files: [
        ExportFacts.File(
          name: "1.zip", bytes: 100, keyCount: 600, isSigned: true, hash: hash,
          end: 1_800_000_000)
      ])
  }

  // MARK: - The people

  @Test(
    "The own account is recognized however its name is written",
    arguments: ["ANNA LIS", "anna  lis"])
  func ownName(name: String) async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let link = #"{"makeLink":{"account":"\#(name)"}}"#
      let own = try await anna.post("/changes", ["change": link, "reason": "x"])
      #expect(own.status == 409 && own.text.contains("own account"), "\(own.text)")
      let page = try await berta.post("/changes", ["change": link, "reason": "x"])
      #expect(page.status == 200 && page.text.contains("New link for the account Anna Lis"))
      let cara = try await console.signedIn(.administrator, name: "Cara")
      let disabling = #"{"disableAccount":{"account":"\#(name)"}}"#
      #expect(try await cara.post("/changes", ["change": disabling, "reason": "x"]).status == 200)
      for number in [1, 2] {
        for decision in ["approve", "reject"] {
          let page = try await anna.post("/changes/\(number)/\(decision)", [:])
          #expect(page.status == 422, "\(decision)")
          #expect(page.element("fault")?.contains("your own account") == true)
        }
      }
      #expect(try await cara.post("/changes/1/approve", [:]).linkPath != nil)
    }
  }

  @Test(
    "The requests of an account end when it is disabled or recovered", arguments: [true, false])
  func withdrawn(isDisabled: Bool) async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      if isDisabled {
        for isDisabled in [true, false] {
          try await console.administration.setAccount(name: "Anna Lis", isDisabled: isDisabled)
        }
      } else {
        _ = try await console.administration.recoverAccount(name: "Anna Lis")
      }
      let page = try await berta.post("/changes/\(number)/approve", [:])
      #expect(page.status == 409 && console.authority.state.rotated.isEmpty)
      #expect(page.text.contains("withdrawn, because the account"))
      #expect(try await console.entries().contains { $0.contains("withdrawn: change \(number)") })
    }
  }

  @Test("One circle has at most 10 open requests, and a request to disable an account has a place")
  func places() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      func fill(_ browser: ConsoleBrowser, _ name: String, _ count: Int) async throws {
        for number in 0..<count {
          let key = ["name": "\(name) \(number)", "kind": "stats"]
          _ = try await browser.request("/keys/api", key)
        }
      }
      try await fill(anna, "a", ConsoleLimit.circleOpenChangesMax)
      let more = try await anna.ask("/keys/api", ["name": "more", "kind": "stats"])
      #expect(more.status == 422 && more.element("fault")?.contains("10 open") == true)
      for name in ["c", "d", "e", "f"] {
        let browser = try await console.signedIn(.administrator, name: "Account \(name)")
        try await fill(browser, name, ConsoleLimit.circleOpenChangesMax)
      }
      let full = try await berta.ask("/keys/api", ["name": "more", "kind": "stats"])
      #expect(full.status == 422 && full.element("fault")?.contains("50 open") == true)
      let disabling = try await berta.request("/accounts/1/disable")
      let cara = try await console.signedIn(.administrator, name: "Cara")
      #expect(try await cara.post("/changes/\(disabling)/approve", [:]).status == 200)
    }
  }

  @Test("Nobody of the circle of an account rejects that it is disabled")
  func shielded() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let cara = try await console.signedIn(.administrator, name: "Cara", invitedBy: anna)
      let disabling = try await berta.request("/accounts/1/disable")
      #expect(try await !cara.get("/changes").text.contains("reject-\(disabling)"))
      #expect(try await cara.post("/changes/\(disabling)/reject", [:]).status == 422)
      #expect(try await berta.post("/changes/\(disabling)/reject", [:]).status == 200)
    }
  }

  @Test("A person pauses phones alone once in seven days, unless another one has approved a change")
  func emergencies() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let credentials = try await console.administration.addAccount(
        name: "Anna", role: .administrator)
      func pause(_ hours: Int) async throws -> Int {
        let browser = console.browser()
        try #require(try await browser.signIn(credentials, at: console.clock.now).status == 303)
        return try await browser.ask("/phones/pause", ["hours": "\(hours)"], when: "now").status
      }
      func advance(_ seconds: Double) {
        console.clock.advance(by: seconds)
        console.serviceClock.advance(by: seconds)
      }
      console.authority.state.changeFailure = .unavailable
      #expect(try await pause(1) == 503)
      console.authority.state.changeFailure = nil
      advance(86_400)
      #expect(try await pause(1) == 422, "the outcome of the first one is not known")
      advance(6 * 86_400)
      #expect(try await pause(24) == 303)
      advance(3 * 86_400)
      #expect(try await pause(1) == 422)
      let berta = try await console.signedIn(.administrator, name: "Berta")
      #expect(
        try await console.change("/keys/rotate", ["server": "keys"], approvedBy: berta).status
          == 200)
      advance(30)
      #expect(try await pause(24) == 303)
    }
  }

  // MARK: - The outcome

  @Test(
    "A change that was approved, and whose outcome is not known, is shown as such after a restart")
  func interrupted() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      console.authority.state.isHeld = true
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      let approval = Task { try await berta.post("/changes/\(number)/approve", [:]).status }
      let unknown = "approved by Berta Lis, outcome unknown"
      try await Patience.until { try await anna.get("/changes").text.contains(unknown) }
      try await RunningConsole.run(in: folder.url) { second async throws in
        let cara = try await second.signedIn(.administrator, name: "Cara")
        let page = try await cara.get("/changes").text
        #expect(page.contains(unknown) && !page.contains("approve-\(number)"))
      }
      approval.cancel()
      console.authority.state.isHeld = false
      _ = await approval.result
      try await Patience.until { try await !anna.get("/changes").text.contains(unknown) }
      #expect(try await anna.get("/changes").text.contains("approved by Berta Lis"))
      #expect(console.authority.state.rotated == [.keys])
    }
  }

  @Test("A change of an account and its approval are stored together or not at all")
  func together() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      let disabling = try await anna.request("/accounts", ["name": "Marek", "role": "issuer"])
      try await database().write {
        try $0.execute(
          sql: """
            CREATE TRIGGER full BEFORE INSERT ON link BEGIN SELECT RAISE(ABORT, 'full'); END
            """)
      }
      #expect(try await berta.post("/changes/\(disabling)/approve", [:]).status == 500)
      #expect(try await berta.get("/changes").text.contains("approve-\(disabling)"))
      #expect(try await !console.entries().contains { $0.contains("change.approved") })
      try await database().write { try $0.execute(sql: "DROP TRIGGER full") }
      #expect(try await berta.post("/changes/\(disabling)/approve", [:]).linkPath != nil)
    }
  }

  // MARK: - The record

  @Test(
    "The audit entry of a request states its values, and a document that was replaced is not approved"
  )
  func record() async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      console, anna, berta async throws in
      _ = try await anna.request("/phones/pause", ["hours": "30"])
      _ = try await anna.request(
        "/keys/apps", ["app": "org.new", "regions": "PL, DE", "authorities": "pl"])
      _ = try await anna.request("/accounts", ["name": "Marek", "role": "epidemiologist"])
      let key = try await anna.request("/keys/api", ["name": "lab", "kind": "stats"])
      let entries = try await console.entries().filter { $0.contains("change.requested") }
      for text in ["(30 hours)", "regions PL, DE, authorities pl", "(epidemiologist)", "(stats)"] {
        #expect(entries.contains { $0.contains(text) && $0.contains("SHA-256") }, "\(text)")
      }
      try await database().write {
        try $0.execute(
          sql: "UPDATE proposal SET document = replace(document, 'stats', 'admin') WHERE id = ?",
          arguments: [key])
      }
      let refused = try await berta.post("/changes/\(key)/approve", [:])
      #expect(refused.status == 409 && refused.element("fault")?.contains("altered") == true)
      #expect(console.authority.state.apiKeys.isEmpty)
    }
  }

  @Test(
    "Values with hidden characters, spaces around them or too many bytes are refused",
    arguments: [" lab", "lab\n", "l\u{200B}ab", "l\u{202E}ab", "l\u{7}ab"])
  func values(name: String) async throws {
    try await RunningConsole.runWithAdministrators("Anna Lis", "Berta Lis", in: folder.url) {
      _, anna, _ async throws in
      func post(_ change: ConsoleChange, reason: String = "x") async throws -> Int {
        try await anna.post("/changes", ["change": try change.document, "reason": reason]).status
      }
      #expect(try await post(.addAPIKey(name: name, kind: .stats)) == 422)
      #expect(try await post(.addApp(id: "a", regions: [name], authorities: ["b"])) == 422)
      let max = ConsoleLimit.changeValueBytesMax
      for (length, status) in [(max, 200), (max + 1, 422)] {
        let id = String(repeating: "a", count: length)
        #expect(try await post(.addApp(id: id, regions: ["PL"], authorities: [])) == status)
      }
      for (count, status) in [(15, 200), (17, 422)] {
        let regions = (0..<count).map { _ in String(repeating: "a", count: 1_000) }
        #expect(try await post(.addApp(id: "a", regions: regions, authorities: [])) == status)
      }
      let key = ConsoleChange.addAPIKey(name: "lab", kind: .stats)
      #expect(try await post(key, reason: "a\u{202E}b") == 422)
      let accent = "a" + String(repeating: "\u{301}", count: ConsoleLimit.reasonBytesMax / 2)
      #expect(try await post(key, reason: accent) == 422)
      #expect(try await post(key, reason: "two\nlines") == 200)
    }
  }

  @Test("Proposals of a database from before changes by two people keep their state")
  func migration() async throws {
    let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
    let file = folder.path("console.sqlite")
    do {
      let queue = try DatabaseQueue(waitingAt: file.path)
      try ConsoleDatabase.schema.migrations.migrate(queue, upTo: "schema 2: audit log with a key")
      try await queue.write { try $0.execute(sql: Self.proposals) }
      try queue.close()
    }
    let (database, clock) = (
      try ConsoleDatabase(file: file, keys: keys), ManualClock(RunningConsole.start)
    )
    let audit = AuditLog(
      database: database, key: AuditKey(keys), clock: clock, fieldBytesMax: 100)
    let store = ProposalStore(database: database, audit: audit, clock: clock)
    #expect(try await store.open().map(\.document) == ["open"])
    let decided = try await store.decided(10)
    #expect(decided.map(\.document) == ["decided"])
    #expect(decided.allSatisfy { $0.decision == .approved && !$0.isOutcomeUnknown })
  }

  private static let proposals = """
    INSERT INTO account (name, name_key, role, handle, created_at)
      VALUES ('Anna', 'anna', 'epidemiologist', x'00', 1);
    INSERT INTO proposal (document, replaces, reason, proposed_by, proposed_at)
      VALUES ('open', 3, 'x', 'Anna', 1);
    INSERT INTO proposal
      (document, replaces, reason, proposed_by, proposed_at, decision, decided_by, decided_at)
      VALUES ('decided', 2, 'x', 'Anna', 1, 'approved', 'Berta', 2);
    """
}
