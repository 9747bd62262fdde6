// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The page of requests: what it reads, and the numbers in the effects.
@Suite struct ChangePageTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func hash(_ number: Int) throws -> KeyFileHash {
    let text = String(number + 0x1000, radix: 16)
    return try #require(KeyFileHash(hex: String(repeating: text, count: 16)))
  }

  private static func export(_ root: String, _ numbers: Range<Int>) throws -> ExportFacts {
    ExportFacts(
      root: root, region: "PL", periodSeconds: 14_400, keysMin: 500,
      nextFile: RunningConsole.start,
      files: try numbers.map { number in
        ExportFacts.File(
          name: "\(number % 100).zip", bytes: 100, keyCount: 600, isSigned: true,
          hash: try hash(number), end: 1_800_000_000)
      })
  }

  /// Changes of every kind that concerns servers, each of them another one.
  private static func changes(_ count: Int) throws -> [ConsoleChange] {
    try (0..<count).map { number in
      switch number % 6 {
      case 0: .withdrawFile(file: try hash(number))
      case 1: .restoreFile(file: try hash(number))
      case 2: .revokeAPIKey(id: "k\(number)")
      case 3: .removeAuthority(issuer: "issuer \(number)")
      case 4: .removeApp(id: "app \(number)")
      default:
        number < 12
          ? .rotateSigningKey(server: number < 6 ? .keys : .verification)
          : .pause(hours: number)
      }
    }
  }

  private static func prepare(_ console: RunningConsole) throws {
    var state = console.authority.state
    // The files 100 to 149 are copies of the files 0 to 49.
    state.exports = [try export("", 0..<50), try export("PL", 100..<150)]
    state.withdrawn = try stride(from: 1, to: 50, by: 6).map(hash)
    state.apiKeys = (0..<50).map {
      APIKeyFacts(
        id: "k\($0)", kind: "admin", name: "lab \($0)", createdAt: 0, revokedAt: nil, liveCodes: nil
      )
    }
    state.authorities = (0..<50).map {
      AuthorityFacts(issuer: "issuer \($0)", audience: "keys", keyIDs: ["v1"])
    }
    state.apps = (0..<50).map {
      AppFacts(id: "app \($0)", regions: ["PL"], authorities: ["issuer \($0)"])
    }
    console.authority.state = state
  }

  @Test("A page with 50 open and 50 decided requests reads each list of the servers once")
  func readOnce() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: Self.prepare) {
      console, anna, berta async throws in
      let perPerson = ConsoleLimit.circleOpenChangesMax
      let changes = try Self.changes(ConsoleLimit.openChangesMax)
      for round in 1...2 {
        for start in stride(from: 0, to: changes.count, by: perPerson) {
          let browser = try await console.signedIn(
            .administrator, name: "Account \(round) \(start / perPerson)")
          for change in changes[start..<start + perPerson] {
            let response = try await browser.post(
              "/changes", ["change": try change.document, "reason": "x"])
            try #require(response.element("notice") != nil, "\(response.text)")
          }
        }
        console.authority.state.calls = [:]
        let page = try await berta.get("/changes").text
        #expect(page.matches(of: /id="approve-\d+"/).count == changes.count)
        #expect(page.contains("Withdraw the key file 0.zip"))
        #expect(page.contains("Export PL, region PL: 48.zip"))
        // One for each server with signing keys, and one of everything else.
        let calls = console.authority.state.calls
        #expect(calls["signingKeys(of:)"] == 2)
        #expect(Set(calls.values) == [1, 2] && calls.count == 8, "\(calls)")
        guard round == 1 else { return }
        for number in 1...changes.count {
          #expect(try await anna.post("/changes/\(number)/reject", [:]).status == 200)
        }
      }
    }
  }

  @Test("The effect on an API key has the number of codes that end with it, but no small one")
  func liveCodes() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url) {
      console, anna, berta async throws in
      func effect(_ count: Int?) async throws -> String {
        console.authority.state.apiKeys = [
          APIKeyFacts(
            id: "k0", kind: "admin", name: "lab", createdAt: 0, revokedAt: nil, liveCodes: count)
        ]
        return try await anna.post("/keys/api/revoke", ["id": "k0"]).text
      }
      let text = "The number of these codes now"
      #expect(try await !effect(nil).contains(text))
      #expect(try await effect(0).contains("\(text): 0."))
      for count in [1, ConsoleLimit.shownCountMin - 1] {
        #expect(try await effect(count).contains("\(text): fewer than 10."), "\(count)")
      }
      #expect(try await effect(ConsoleLimit.shownCountMin).contains("\(text): 10."))
      // A number that changes is no other effect.
      let number = try await anna.request("/keys/api/revoke", ["id": "k0"])
      let shown = try await berta.effect(of: "\(number)")
      _ = try await effect(12)
      let approved = try await berta.post("/changes/\(number)/approve", ["effect": shown])
      #expect(approved.status == 200, "\(approved.text)")
    }
  }

  @Test("The effects of a pause and of an app that is removed have the uploads of a day, if known")
  func uploads() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url) {
      console, anna, _ async throws in
      console.authority.state.apps = [
        AppFacts(id: "org.example", regions: ["PL"], authorities: [])
      ]
      func effects() async throws -> [Bool] {
        let pages = [
          try await anna.post("/phones/pause", ["hours": "2"]),
          try await anna.post("/keys/apps/remove", ["app": "org.example"]),
        ]
        return pages.map {
          #expect($0.status == 200)
          return $0.text.contains(
            "Uploads of all apps on 2027-01-13, the last day with a count: 120.")
        }
      }
      #expect(try await effects() == [false, false])
      // Of the last two days one has too few uploads, and one is not counted.
      console.authority.state.days = [(13, 120), (14, 9), (15, nil)].map { day, uploads in
        FunnelDay(
          day: 1_799_971_200 + Int64(day - 15) * 86_400, issued: nil, redeemed: nil,
          uploads: uploads, published: nil)
      }
      #expect(try await effects() == [true, true])
    }
  }

  @Test("If the servers do not answer, a pause is shown without uploads and carried out")
  func heldUploads() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url) {
      console, anna, berta async throws in
      console.authority.state.isFunnelHeld = true
      defer { console.authority.state.isFunnelHeld = false }
      func readCount() -> Int { console.authority.state.calls["funnel()"] ?? 0 }
      let alone = try await anna.ask("/phones/pause", ["hours": "24"], when: "now")
      #expect(alone.status == 303 && console.authority.state.pause != nil)
      // Only the page with the effect has tried it.
      #expect(readCount() == 1)
      let number = try await anna.request("/phones/pause", ["hours": "48"])
      let shown = try await berta.effect(of: "\(number)")
      let (end, count) = (console.authority.state.pause?.until, readCount())
      let approved = try await berta.post("/changes/\(number)/approve", ["effect": shown])
      #expect(approved.status == 200, "\(approved.text)")
      #expect(console.authority.state.pause?.until == end.map { $0 + 24 * 3_600 })
      #expect(readCount() == count)
    }
  }

  @Test("Several callers of a value at once cause one read, and so do later ones")
  func concurrentReads() async throws {
    let authority = SimulatedAuthority()
    authority.state.isFunnelHeld = true
    let days = ReadOnce<[FunnelDay]> { () throws(AuthorityFailure) in
      try await authority.funnel()
    }
    let readers = (0..<20).map { _ in Task { try await days.value.count } }
    try await Patience.until { authority.state.calls["funnel()"] != nil }
    authority.state.isFunnelHeld = false
    for reader in readers { #expect(try await reader.value == 0) }
    #expect(try await days.value.isEmpty)
    #expect(authority.state.calls["funnel()"] == 1)
  }
}
