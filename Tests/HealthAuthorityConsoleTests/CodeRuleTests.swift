// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The page of the rules for codes, which one administrator changes and another approves.
@Suite struct CodeRuleTests {
  private static let fields = [
    "laboratory": "45", "doctor": "15", "link": "720", "digits": "9", "date": "on",
  ]

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("Issuers see the rules, administrators have fields with both bounds, also in Polish")
  func fields() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let jan = try await console.signedIn(.issuer, name: "Jan")
      let seen = try await jan.get("/codes/rules").text
      #expect(seen.contains("<td>30 minutes</td>") && !seen.contains("id=\"change-rules\""))
      #expect(try await jan.post("/codes/rules", Self.fields).status == 403)
      let adam = try await console.signedIn(.administrator, name: "Adam")
      let form = try await adam.get("/codes/rules")
      #expect(form.field("laboratory") == "30" && form.field("link") == "1440")
      #expect(form.element("laboratory-bounds") == "1 to 120 minutes")
      #expect(form.element("digits-bounds") == "6 to 11 digits")
      _ = try await adam.get("/language/pl?next=/codes/rules")
      #expect(try await adam.get("/codes/rules").element("laboratory-bounds") == "od 1 do 120 min")
    }
  }

  @Test(
    "A number outside of the bounds is refused with both, and the form keeps what was typed",
    arguments: [
      ("laboratory", "0"), ("laboratory", "121"), ("laboratory", ""),
      ("laboratory", "99999999999999999999"),
      ("doctor", "61"), ("link", "1441"), ("digits", "5"), ("digits", "12"),
      ("digits", "eight"),
    ])
  func bounds(field: String, value: String) async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let adam = try await console.signedIn(.administrator, name: "Adam")
      let typed = Self.fields.merging([field: value]) { $1 }
      let page = try await adam.post("/codes/rules", typed)
      #expect(page.status == 422 && page.field("link") == typed["link"])
      #expect(page.element("fault")?.wholeMatch(of: /.+: write .+ from [0-9]+ to [0-9]+\./) != nil)
    }
  }

  @Test("A link that ends before the short code, and the rules in force, are refused")
  func impossible() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let adam = try await console.signedIn(.administrator, name: "Adam")
      let shorter = Self.fields.merging(["link": "14"]) { $1 }
      let page = try await adam.post("/codes/rules", shorter)
      #expect(page.status == 422 && page.element("fault")?.contains("at least as long") == true)
      let same = ["laboratory": "30", "doctor": "15", "link": "1440", "digits": "8"]
      let unchanged = try await adam.post("/codes/rules", same)
      #expect(unchanged.element("fault") == "These are the rules in force.")
    }
  }

  @Test("The effect names each changed rule, and a second person puts the rules into force")
  func approved() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: { _ in }) {
      console, anna, berta async throws in
      // Seconds that are not whole minutes stay if their minutes are not changed.
      console.authority.state.rules.shortCodeSeconds = 890
      let before = console.authority.state.rules
      let effect = try await anna.post("/codes/rules", Self.fields).text
      #expect(effect.contains("Validity of a PIN (laboratory): 45 minutes instead of 30 minutes."))
      #expect(effect.contains("is required: yes instead of no."))
      #expect(!effect.contains("Validity of a short code"))
      let number = try await anna.request("/codes/rules", Self.fields)
      #expect(console.authority.state.rules == before)
      #expect(try await berta.post("/changes/\(number)/approve", [:]).status == 200)
      #expect(
        console.authority.state.rules
          == CodeRules.Values(
            pinSeconds: 2_700, shortCodeSeconds: 890, longCodeSeconds: 43_200, shortCodeDigits: 9,
            requiresDate: true))
      let log = try await anna.get("/audit?action=code-rules.changed").text
      #expect(log.contains("PIN 2700 s, short code 890 s and 9 digits"))
    }
  }

  @Test("If the rules have changed meanwhile, the approval shows the new effect and does nothing")
  func stale() async throws {
    try await RunningConsole.runWithAdministrators(in: folder.url, prepare: { _ in }) {
      console, anna, berta async throws in
      let number = try await anna.request("/codes/rules", Self.fields)
      let shown = try await berta.effect(of: "\(number)")
      console.authority.state.rules.pinSeconds = 600
      let rules = console.authority.state.rules
      let page = try await berta.post(
        "/changes/\(number)/approve", ["effect": shown])
      #expect(page.status == 409 && console.authority.state.rules == rules)
      // The new effect is approved as any other.
      #expect(try await berta.post("/changes/\(number)/approve", [:]).status == 200)
      #expect(console.authority.state.rules.pinSeconds == 2_700)
    }
  }
}
