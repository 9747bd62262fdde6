// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The remarks of the start page, and the filter of the audit log.
@Suite struct AttentionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The start page names a pause and signing keys that end, to those who can act")
  func administrator() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      #expect(!(try await anna.get("/").text.contains("id=\"waiting\"")))
      let now = RunningConsole.start.unixSecond
      console.authority.state.pause = DeviceConfiguration.Pause(until: now + 3_600)
      console.authority.state.signingKeysEnd = now + 13 * 86_400
      let page = try await anna.get("/").text
      #expect(page.contains("Phones are paused until 2027-01-15 10:00 CET."))
      #expect(page.contains("The signing key of key files ends at 2027-01-28 09:00 CET"))
      #expect(!(try await jan.get("/").text.contains("id=\"waiting\"")))
      console.authority.state.pause = DeviceConfiguration.Pause(until: now)
      console.authority.state.signingKeysEnd = now - 1
      let later = try await anna.get("/").text
      #expect(
        !later.contains("paused until") && later.contains("No signing key of tokens is valid"))
    }
  }

  @Test("While the servers do not answer, the start page says what is not known")
  func unavailable() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      for _ in 0..<2 {
        console.authority.state.failure = .unavailable
        let page = try await anna.get("/")
        #expect(page.status == 200)
        #expect(page.text.contains("It is not known whether phones are paused"))
        #expect(page.text.contains("whether a signing key of key files is valid"))
        #expect(page.text.contains("whether a signing key of tokens is valid"))
        #expect(try await jan.get("/").text.contains("how many codes can still be issued today"))
        console.authority.state.failure = nil
        #expect(!(try await anna.get("/").text.contains("not known")))
        #expect(!(try await jan.get("/").text.contains("not known")))
      }
    }
  }

  @Test("At 80 percent of the quota of the day, the start page warns; at 100 it is used up")
  func quota() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      console.authority.state.codesPerDay = 10
      let jan = try await console.signedIn(.issuer, name: "Jan")
      func issue(_ count: Int) async throws -> String {
        let batch = try await jan.get("/codes/batch").field("batch")
        let lines = (1...count).map { "A-\($0),likely" }.joined(separator: "\n")
        _ = try await jan.post("/codes/batch", ["batch": batch, "lines": lines])
        return try await jan.get("/").text
      }
      #expect(!(try await issue(7).contains("codes of a day")))
      #expect(try await issue(1).contains("8 of the 10 codes of a day are issued."))
      #expect(try await issue(2).contains("The quota of the day, 10 codes, is used up."))
      console.serviceClock.advance(by: 86_400)
      #expect(!(try await jan.get("/").text.contains("id=\"waiting\"")))
    }
  }

  @Test("Administrators are warned of the quota of another system's key, others are not")
  func keyQuota() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      console.authority.state.codesPerDay = 10
      let anna = try await console.signedIn(.administrator, name: "Anna")
      let polish = try await console.signedIn(.administrator, name: "Ewa", language: "pl")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      func page(_ issued: Int?, isRevoked: Bool = false) async throws -> String {
        var key = APIKeyFacts(
          id: "k1", kind: "admin", name: "lab", createdAt: 0, revokedAt: isRevoked ? 1 : nil,
          liveCodes: nil)
        key.issuedToday = issued
        console.authority.state.apiKeys = [key]
        return try await anna.get("/").text
      }
      let near = "The API key lab (k1) has issued at least 80 percent of its 10 codes of a day"
      for (issued, isNear, isUsedUp) in [
        (nil, false, false), (7, false, false), (8, true, false), (9, true, false),
        (10, false, true), (11, false, true),
      ] as [(Int?, Bool, Bool)] {
        let text = try await page(issued)
        #expect(text.contains(near) == isNear, "\(issued ?? -1)")
        #expect(text.contains("has used up its quota of the day, 10 codes") == isUsedUp)
      }
      #expect(try await polish.get("/").text.contains("Klucz API lab (k1) wyczerpał"))
      #expect(!(try await jan.get("/").text.contains("lab (k1)")))
      #expect(!(try await page(10, isRevoked: true).contains("lab (k1)")))
      // The start page is seen often, and that count reads all codes.
      #expect(console.authority.state.liveCountCount == 0)
      _ = try await anna.get("/keys")
      #expect(console.authority.state.liveCountCount > 0)
    }
  }

  @Test("What a server does not answer is not known; what the console does not have is left out")
  func notOffered() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna")
      console.authority.state.failure = .unavailable
      let unknown = try await anna.get("/").text
      #expect(unknown.matches(of: /not known/).count == 4)
      // As in the console of a realm, whose key server is shared.
      console.authority.state.failure = .notOffered("The key server is shared.")
      for _ in 1...2 {
        let page = try await anna.get("/")
        #expect(page.status == 200 && !page.text.contains("not known"))
      }
    }
  }

  @Test("The audit log is filtered by account, action, subject and days of the office")
  func audit() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna Lis")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      let uuid = try await jan.get("/codes/new").field("uuid")
      _ = try await jan.post("/codes", ["uuid": uuid, "test": "confirmed"])
      func count(_ query: String) async throws -> Int {
        try await anna.get("/audit?\(query)").text.matches(of: /<tr><td>[0-9]/).count
      }
      let all = try await count("")
      #expect(try await count("actor=jan") == 2 && all > 3)
      #expect(try await count("actor=Anna+Lis&action=session.started") == 1)
      #expect(try await count("action=code.issued&subject=\(uuid.prefix(8).uppercased())") == 1)
      #expect(try await count("from=2027-01-15&to=2027-01-15") == all)
      #expect(try await count("from=2027-01-16") == 0)
      let none = try await anna.get("/audit?from=2027-01-16")
      #expect(none.element("none") == "There is no such entry.")
      #expect(try await anna.get("/audit").element("none") == nil)
      #expect(try await count("to=2027-01-14") == 0)
      #expect(try await count("to=nonsense") == all)
      let page = try await anna.get("/audit?actor=%22%3E&action=code.issued").text
      #expect(page.contains("value=\"&quot;&gt;\"") || page.contains("value=\"%22%3E\""))
      #expect(page.contains("value=\"code.issued\" selected"))
      // Issuers and ids of keys may have a plus sign, which browsers send as its code.
      try await console.administration.composition.audit.append(
        AuditEvent("Anna Lis", .authorityAdded, "lab+1"))
      #expect(try await count("subject=lab%2B1") == 1)
      #expect(try await count("subject=lab+1") == 0)
    }
  }

  @Test("A day of an office begins at its midnight, also on the day the clocks change")
  func starts() throws {
    let times = OfficeTime(
      zone: try #require(TimeZone(identifier: "Europe/Warsaw")), language: .english)
    for (day, start) in [
      ("2027-01-15", "2027-01-14T23:00:00Z"), ("2027-07-15", "2027-07-14T22:00:00Z"),
      ("2027-03-28", "2027-03-27T23:00:00Z"), ("2027-03-29", "2027-03-28T22:00:00Z"),
      ("2027-10-31", "2027-10-30T22:00:00Z"), ("2027-11-01", "2027-10-31T23:00:00Z"),
    ] {
      #expect(times.start(ofDay: day) == (try Date(start, strategy: .iso8601)), "\(day)")
    }
    #expect(times.start(ofDay: "2027-02-30") == nil && times.start(ofDay: "") == nil)
  }
}
