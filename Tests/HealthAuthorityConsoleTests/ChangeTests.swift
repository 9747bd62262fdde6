// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The changes of phones, keys and accounts, which one person requests and another approves.
@Suite struct ChangeTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Adds something of each kind to change.
  private static func prepare(_ console: RunningConsole) async throws {
    _ = try await console.administration.addAccount(name: "Ewa", role: .issuer)
    _ = try await console.administration.addAccount(name: "Zofia", role: .issuer)
    console.authority.state.apiKeys = [
      APIKeyFacts(
        id: "k0", kind: "device", name: "app", createdAt: 0, revokedAt: nil, liveCodes: nil)
    ]
    console.authority.state.authorities = [
      AuthorityFacts(issuer: "pl", audience: "keys", keyIDs: ["v1", "v2"])
    ]
    console.authority.state.apps = [
      AppFacts(id: "org.example", regions: ["PL"], authorities: ["pl"])
    ]
    console.authority.state.exports = try exports()
    console.authority.state.withdrawn = [try #require(KeyFileHash(hex: ChangeKind.withdrawn))]
  }

  /// Two exports of one region with copies of one file, and a file that is in one of them only.
  private static func exports() throws -> [ExportFacts] {
    func file(_ name: String, _ byte: String, _ keys: Int) throws -> ExportFacts.File {
      let hash = try #require(KeyFileHash(hex: String(repeating: byte, count: 32)))
      return ExportFacts.File(
        name: name, bytes: 100, keyCount: keys, isSigned: true, hash: hash, end: 1_800_000_000)
    }
    func export(_ root: String, _ files: [ExportFacts.File]) -> ExportFacts {
      ExportFacts(
        root: root, region: "PL", periodSeconds: 14_400, keysMin: 500,
        nextFile: RunningConsole.start, files: files)
    }
    return [
      export("", [try file("1.zip", "0b", 640), try file("2.zip", "0d", 700)]),
      export("PL", [try file("1.zip", "0e", 650)]),
    ]
  }

  /// Makes a change possible that the others would prevent.
  private func prepare(_ kind: ChangeKind, _ console: RunningConsole) async throws {
    if kind.action == "phones.resumed" {
      console.authority.state.pause = DeviceConfiguration.Pause(until: nil)
    }
    if kind.action == "account.enabled" {
      let requester = try await console.signedIn(.administrator, name: "Cara")
      _ = try await console.change("/accounts/4/disable", approvedBy: requester)
    }
  }

  private func actions(_ console: RunningConsole, _ kind: ChangeKind) async throws -> [String] {
    try await console.entries().filter { $0.contains("\"action\":\"\(kind.action)\"") }
  }

  @Test(
    "A single form changes nothing, and a change is carried out once after another person approved",
    arguments: ChangeKind.all)
  func eachKind(kind: ChangeKind) async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      try await prepare(kind, console)
      let before = (console.authority.state.summary, try await actions(console, kind).count)
      let page = try await anna.post(kind.path, kind.fields)
      #expect(page.status == 200 && page.element("change-name")?.hasPrefix(kind.title) == true)
      #expect(page.text.contains("id=\"request\""), "the effect is shown with a button to request")
      let number = try await anna.request(kind.path, kind.fields)
      let own = try await anna.post("/changes/\(number)/approve", [:])
      #expect(own.status == 422 && own.element("fault")?.contains("another person") == true)
      #expect(try await !anna.get("/changes").text.contains("approve-\(number)"))
      #expect(console.authority.state.summary == before.0)
      #expect(try await actions(console, kind).count == before.1)

      let shown = try await berta.get("/changes").text
      #expect(shown.contains("Requested by Anna") && shown.contains(kind.title))
      #expect(shown.contains("id=\"approve-\(number)\""))
      let approved = try await berta.post("/changes/\(number)/approve", [:])
      #expect(approved.status == 200, "\(approved.text)")
      let carriedOut = try await actions(console, kind)
      #expect(carriedOut.count == before.1 + 1 && carriedOut.last?.contains("Berta") == true)
      let again = try await berta.post("/changes/\(number)/approve", [:])
      #expect(again.status == 409)
      #expect(again.element("fault")?.contains("approved by Berta") == true)
      #expect(try await actions(console, kind).count == before.1 + 1)
      #expect(try await berta.get("/changes").text.contains("approved by Berta"))
    }
  }

  @Test("The title of the effect names numbers of files, keys, sessions and apps")
  func numbers() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, _ async throws in
      let file = try await anna.post("/phones/withdraw", ["hash": ChangeKind.file]).text
      #expect(file.contains("All phones ignore these files (2) with their keys (1290"))
      #expect(file.contains("Export PL, region PL: 1.zip, keys: 650"))
      let rotation = try await anna.post("/keys/rotate", ["server": "keys"]).text
      #expect(rotation.contains("The 3 listed key files keep their signature"))
      let removal = try await anna.post("/keys/authorities/remove", ["issuer": "pl"]).text
      #expect(
        removal.contains("The keys of the authority (2) end, and it is removed from its apps (1)"))
      let disabling = try await anna.post("/accounts/2/disable", [:]).text
      #expect(disabling.contains("The sessions of the account (1)"))
      let pause = try await anna.post("/phones/pause", ["hours": "30"]).text
      #expect(
        pause.contains("All phones of these servers stop") && pause.contains("2027-01-16 15:00"))
      #expect(pause.contains("Other people who can approve it: 1"))
    }
  }

  @Test("An account of the same circle cannot approve, and neither can one without the right")
  func related() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let cara = try await console.signedIn(.administrator, name: "Cara", invitedBy: anna)
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      #expect(try await !cara.get("/changes").text.contains("approve-\(number)"))
      let page = try await cara.post("/changes/\(number)/approve", [:])
      #expect(page.status == 422 && page.element("fault")?.contains("one person") == true)
      let ewa = try await console.signedIn(.epidemiologist, name: "Maria")
      #expect(try await ewa.get("/changes").status == 403)
      #expect(try await ewa.post("/changes/\(number)/approve", [:]).status == 403)
      #expect(console.authority.state.rotated.isEmpty)
      #expect(try await berta.post("/changes/\(number)/approve", [:]).status == 200)
      #expect(console.authority.state.rotated == [.keys])
    }
  }

  @Test("Of two approvals of one request at once, one carries it out")
  func atOnce() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let cara = try await console.signedIn(.administrator, name: "Cara")
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for browser in [berta, cara, berta, cara] {
          group.addTask { try await browser.post("/changes/\(number)/approve", [:]).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200, 409, 409, 409])
      #expect(console.authority.state.rotated == [.keys])
    }
  }

  @Test("A request expires after seven days, and a rejected one is not carried out")
  func expiry() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let rejected = try await anna.request("/keys/rotate", ["server": "keys"])
      #expect(try await anna.post("/changes/\(rejected)/reject", [:]).status == 200)
      let late = try await berta.post("/changes/\(rejected)/approve", [:])
      #expect(late.status == 409 && late.element("fault")?.contains("rejected by Anna") == true)
      _ = try await anna.request("/keys/rotate", ["server": "verification"])
      _ = try await anna.request("/keys/rotate", ["server": "keys"])
      console.clock.advance(by: Double(ConsoleLimit.changeSeconds) - 1)
      let cara = try await console.signedIn(.administrator, name: "Cara")
      #expect(try await cara.post("/changes/2/approve", [:]).status == 200)
      console.clock.advance(by: 1)
      let expired = try await cara.post("/changes/3/approve", [:])
      #expect(expired.status == 409 && expired.element("fault")?.contains("expired") == true)
      let page = try await cara.get("/changes").text
      #expect(!page.contains("approve-3") && page.contains("<td>expired</td>"))
      #expect(console.authority.state.rotated == [.verification])
    }
  }

  @Test("A change that its server refuses is open again, and one without an answer is not")
  func failed() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let number = try await anna.request("/phones/withdraw", ["hash": ChangeKind.file])
      console.authority.state.changeFailure = .refused("There are too many.")
      let refused = try await berta.post("/changes/\(number)/approve", [:])
      #expect(refused.status == 409)
      #expect(try await berta.get("/changes").text.contains("approve-\(number)"))
      console.authority.state.changeFailure = .unavailable
      let unknown = try await berta.post("/changes/\(number)/approve", [:])
      #expect(unknown.status == 503)
      #expect(unknown.element("fault")?.contains("may have been carried out or not") == true)
      let page = try await berta.get("/changes").text
      #expect(!page.contains("approve-\(number)"))
      #expect(page.contains("approved by Berta, outcome unknown"))
      console.authority.state.changeFailure = nil
      let again = try await anna.request("/phones/withdraw", ["hash": ChangeKind.file])
      #expect(try await berta.post("/changes/\(again)/approve", [:]).status == 200)
      let hashes = console.authority.state.withdrawn.map(\.description)
      #expect(
        hashes == [ChangeKind.withdrawn, ChangeKind.file, String(repeating: "0e", count: 32)])
    }
  }

  @Test("Ten minutes after the sign-in a session neither requests, approves nor pauses")
  func oldSession() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      console.clock.advance(by: Double(ConsoleLimit.freshSessionSeconds))
      let change = #"{"pause":{"hours":1}}"#
      for (path, fields) in [
        ("/changes/\(number)/approve", [:]), ("/changes/\(number)/reject", [:]),
        ("/changes", ["change": change, "reason": "x"]),
        ("/changes", ["change": change, "reason": "x", "when": "now"]),
      ] as [(String, [String: String])] {
        #expect(try await berta.post(path, fields).status == 401, "\(path)")
      }
      #expect(try await berta.get("/changes").text.contains("approve-\(number)"))
      #expect(console.authority.state.pause == nil && console.authority.state.rotated.isEmpty)
    }
  }

  @Test("One person pauses phones for 24 hours, not for 25, and not again within seven days")
  func emergency() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let long = try await anna.post("/phones/pause", ["hours": "25"])
      #expect(!long.text.contains("id=\"now\""))
      let forced = try await anna.ask("/phones/pause", ["hours": "25"], when: "now")
      #expect(forced.status == 422 && console.authority.state.pause == nil)
      let open = try await anna.ask("/phones/pause", when: "now")
      #expect(open.status == 422 && console.authority.state.pause == nil)
      let other = try await anna.ask("/keys/rotate", ["server": "keys"], when: "now")
      #expect(other.status == 422 && console.authority.state.rotated.isEmpty)

      console.authority.state.changeFailure = .refused("not now")
      #expect(try await anna.ask("/phones/pause", ["hours": "24"], when: "now").status == 409)
      console.authority.state.changeFailure = nil
      #expect(try await anna.post("/phones/pause", ["hours": "24"]).text.contains("id=\"now\""))
      #expect(try await anna.ask("/phones/pause", ["hours": "24"], when: "now").status == 303)
      #expect(console.authority.state.pause?.until == 1_800_086_400)
      #expect(try await anna.get("/changes").text.contains("carried out by Anna alone"))

      let shorter = try await berta.post("/phones/pause", ["hours": "23"])
      #expect(shorter.status == 422 && shorter.element("fault")?.contains("already") == true)
      console.clock.advance(by: 86_400)
      console.serviceClock.advance(by: 86_400)
      let cara = try await console.signedIn(.administrator, name: "Cara")
      #expect(try await cara.ask("/phones/pause", ["hours": "1"], when: "now").status == 303)
      #expect(try await cara.ask("/phones/pause", ["hours": "25"], when: "now").status == 422)
    }
  }

  @Test("A withdrawal and its end cover all copies of a file, and no other file")
  func copies() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      console.authority.state.withdrawn = []
      let list = try await anna.get("/exports").text
      #expect(list.contains("Withdraw: Export PL, region PL, 1.zip"))
      let number = try await anna.request("/phones/withdraw", ["hash": ChangeKind.file])
      _ = try await berta.post("/changes/\(number)/approve", [:])
      let copy = String(repeating: "0e", count: 32)
      #expect(console.authority.state.withdrawn.map(\.description) == [ChangeKind.file, copy])
      let page = try await berta.get("/phones").text
      #expect(page.contains("Export PL, region PL: 1.zip"))
      let again = try await anna.post("/phones/withdraw", ["hash": copy])
      #expect(again.status == 422 && again.element("fault")?.contains("withdrawn already") == true)
      let other = try await anna.request("/phones/restore", ["hash": copy])
      _ = try await berta.post("/changes/\(other)/approve", [:])
      #expect(console.authority.state.withdrawn.isEmpty)
      let unknown = String(repeating: "ff", count: 32)
      #expect(try await anna.post("/phones/withdraw", ["hash": unknown]).status == 422)
      #expect(try await anna.post("/phones/withdraw", ["hash": "12"]).status == 400)
    }
  }

  @Test("A change that has become impossible is refused with the cause, and stays open")
  func impossible() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let first = try await anna.request("/keys/api/revoke", ["id": "k0"])
      let twice = try await anna.ask("/keys/api/revoke", ["id": "k0"])
      #expect(twice.status == 422 && twice.element("fault")?.contains("requested already") == true)
      #expect(try await berta.post("/changes/\(first)/approve", [:]).status == 200)
      console.authority.state.apiKeys = [
        APIKeyFacts(
          id: "k0", kind: "device", name: "app", createdAt: 0, revokedAt: nil, liveCodes: nil)
      ]
      let second = try await anna.request("/keys/api/revoke", ["id": "k0"])
      try await console.authority.revokeAPIKey("k0")
      let revoked = try await berta.post("/changes/\(second)/approve", [:])
      #expect(revoked.status == 409)
      #expect(revoked.element("fault")?.contains("revoked already") == true)
      let account = ["name": "Marek", "role": "issuer"]
      let adding = try await anna.request("/accounts", account)
      _ = try await console.administration.addAccount(name: "Marek", role: .issuer)
      let taken = try await berta.post("/changes/\(adding)/approve", [:])
      #expect(taken.status == 409 && taken.element("fault")?.contains("not taken") == true)
      let removal = try await anna.request("/keys/apps/remove", ["app": "org.example"])
      console.authority.state.apps = []
      let gone = try await berta.post("/changes/\(removal)/approve", [:])
      #expect(gone.status == 409 && gone.element("fault")?.contains("not exist any more") == true)
      #expect(try await berta.get("/changes").text.contains("What it concerns does not exist"))
    }
  }

  @Test("The holder of an account decides no request about it, and those of a disabled one end")
  func concerned() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let link = try await anna.request("/accounts/2/link")
      for decision in ["approve", "reject"] {
        let page = try await berta.post("/changes/\(link)/\(decision)", [:])
        #expect(page.status == 422 && page.element("fault")?.contains("your own account") == true)
      }
      let stolen = try await berta.request("/keys/rotate", ["server": "keys"])
      #expect(try await console.change("/accounts/2/disable", approvedBy: anna).status == 200)
      let page = try await anna.post("/changes/\(stolen)/approve", [:])
      #expect(page.status == 409 && page.element("fault")?.contains("is disabled") == true)
      #expect(console.authority.state.rotated.isEmpty)
    }
  }

  @Test(
    "Without an independent person the page names the commands, and the start page counts requests")
  func people() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna")
      let alone = try await anna.post("/keys/rotate", ["server": "keys"])
      #expect(alone.element("people")?.contains("firebreak console account add") == true)
      let berta = try await console.signedIn(.administrator, name: "Berta")
      _ = try await anna.request("/keys/rotate", ["server": "keys"])
      #expect(try await berta.get("/").text.contains("wait for your decision: 1"))
      #expect(try await !anna.get("/").text.contains("wait for your decision"))
    }
  }

  @Test("A request needs a reason of at most 500 characters")
  func limits() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      _, anna, _ async throws in
      for (length, status) in [(0, 422), (500, 200), (501, 422)] {
        let page = try await anna.ask(
          "/keys/rotate", ["server": "keys"], reason: String(repeating: "a", count: length))
        #expect(page.status == status, "\(length)")
      }
      #expect(try await anna.post("/changes", ["change": "{}", "reason": "x"]).status == 400)
      for (length, status) in [(0, 422), (64, 200), (65, 422)] {
        let name = String(repeating: "a", count: length)
        let page = try await anna.post("/keys/api", ["name": name, "kind": "admin"])
        #expect(page.status == status, "\(length)")
      }
      for (hours, status) in [("0", 422), ("1", 200), ("720", 200), ("721", 422), ("x", 422)] {
        #expect(try await anna.post("/phones/pause", ["hours": hours]).status == status)
      }
    }
  }

  @Test("An API key and a link are shown once, to the person who approves")
  func secrets() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let key = try await anna.request("/keys/api", ["name": "lab", "kind": "admin"])
      let shown = try await berta.post("/changes/\(key)/approve", [:])
      #expect(shown.element("secret") == "k1.the-text-of-the-key")
      #expect(shown.text.contains("Hand it to lab"))
      for browser in [anna, berta] {
        for path in ["/changes", "/keys", "/audit"] {
          #expect(try await !browser.get(path).text.contains("the-text-of-the-key"))
        }
      }
      let link = try await anna.request("/accounts/3/link")
      #expect(try await berta.post("/changes/\(link)/approve", [:]).linkPath != nil)
      let kind = ["name": "x", "kind": "root"]
      #expect(try await anna.post("/keys/api", kind).status == 400)
    }
  }
}

extension SimulatedAuthority.State {
  /// Everything that changes of phones and keys change.
  fileprivate var summary: String {
    "\(String(describing: pause)) \(withdrawn) \(rotated) \(apiKeys) \(authorities) \(apps) \(rules)"
  }
}
