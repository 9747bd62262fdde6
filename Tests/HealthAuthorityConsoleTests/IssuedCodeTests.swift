// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import HealthAuthorityConsole

/// The codes that an official finds again, and the counts by official.
@Suite struct IssuedCodeTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Issues a code and returns its number.
  private func issue(_ browser: ConsoleBrowser, test: String = "confirmed") async throws -> String {
    let uuid = try await browser.get("/codes/new").field("uuid")
    let page = try await browser.post("/codes", ["uuid": uuid, "test": test])
    try #require(page.status == 200, "\(page.text)")
    return uuid
  }

  @Test("An official sees the own codes with their states, finds one by its number, and no others")
  func own() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      #expect(
        try await anna.get("/codes/issued").element("none")
          == "You have issued no code in the last 28 days.")
      let first = try await issue(anna)
      let second = try await issue(anna, test: "likely")
      let other = try await issue(jan)
      console.authority.state.codes[try #require(UUID(uuidString: first))] = CodeState(
        isUsed: true, expiresAt: RunningConsole.start)
      let page = try await anna.get("/codes/issued")
      #expect(page.text.contains(first) && page.text.contains(second))
      #expect(!page.text.contains(other) && !page.text.contains("AB101C"))
      #expect(page.text.contains(">used<") && page.text.contains(">not used yet<"))
      let found = try await anna.get("/codes/issued?number=\(second.prefix(8).uppercased())")
      #expect(found.text.contains(second) && !found.text.contains(first))
      let spaced = try await anna.get("/codes/issued?number=+\(second.prefix(8))+").text
      #expect(spaced.contains(second) && !spaced.contains(first))
      for word in ["%25", "Kowalska", "zz"] {
        #expect(
          try await anna.get("/codes/issued?number=\(word)").element("none")
            == "There is no such code.", "\(word)")
      }
      #expect(
        try await anna.get("/codes/issued?number=\(other)").element("none")
          == "There is no such code.")
      // For a browser, a quotation mark with a combining mark is a quotation mark.
      let marked = try await anna.get("/codes/issued?number=%22%CC%81%20autofocus%20x=").text
      #expect(marked.contains("value=\"&quot;\u{301} autofocus x=\""))
      console.authority.state.failure = .unavailable
      #expect(try await anna.get("/codes/issued").text.contains("A server does not answer"))
    }
  }

  @Test("A new code replaces one that was not used: it has the same test, and the old one ends")
  func replace() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let old = try await issue(anna, test: "likely")
      let form = try await anna.get("/codes/new?replaces=\(old)")
      #expect(form.field("replaces") == old && form.text.contains("value=\"likely\" checked"))
      let fields = ["uuid": form.field("uuid"), "test": "likely", "replaces": old]
      let page = try await anna.post("/codes", fields)
      #expect(page.element("ending") == "The earlier code was ended.")
      let state = console.authority.state.codes[try #require(UUID(uuidString: old))]
      #expect(state.map { $0.expiresAt < RunningConsole.start } == true)
      // The code of another official is not ended.
      let jan = try await console.signedIn(.issuer, name: "Jan")
      let new = fields["uuid"] ?? ""
      #expect(try await jan.get("/codes/new?replaces=\(new)").field("replaces").isEmpty)
      let uuid = try await jan.get("/codes/new").field("uuid")
      let other = try await jan.post(
        "/codes", ["uuid": uuid, "test": "confirmed", "replaces": new])
      #expect(other.status == 200 && other.element("ending") == nil)
    }
  }

  @Test("The text of an SMS is chosen among the server's templates, and the rules have a page")
  func rules() async throws {
    try await RunningConsole.run(in: folder.url, configure: { $0.sendsSMS = true }) {
      console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      #expect(!(try await anna.get("/codes/new").text.contains("id=\"template\"")))
      console.authority.state.smsTemplates = ["standard", "in English"]
      let form = try await anna.get("/codes/new")
      #expect(form.text.contains("<option value=\"in English\">"))
      _ = try await anna.post(
        "/codes",
        [
          "uuid": form.field("uuid"), "test": "confirmed", "phone": "+48123456789",
          "template": "in English",
        ])
      let request = try #require(console.authority.state.requests.first)
      #expect(request.smsTemplate == "in English")
      #expect(request.body.smsTemplateLabel == "in English")
      let page = try await anna.get("/codes/rules").text
      #expect(page.contains("<td>1000</td>") && page.contains("<td>30 minutes</td>"))
      #expect(page.contains("standard, in English"))
      console.authority.state.smsTemplates = ["Default SMS template", "wiosna"]
      let polish = try await console.signedIn(.issuer, name: "Ewa", language: "pl")
      #expect(
        try await polish.get("/codes/rules").text.contains("Domyślna treść SMS-a, wiosna"))
      #expect(
        try await polish.get("/codes/new").text
          .contains("<option value=\"Default SMS template\">Domyślna treść SMS-a<"))
    }
  }

  @Test("A refused code is not listed, and the form keeps what was typed")
  func refused() async throws {
    try await RunningConsole.run(in: folder.url, configure: { $0.sendsSMS = true }) {
      console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let uuid = try await anna.get("/codes/new").field("uuid")
      console.authority.state.failure = .notIssued(VerificationFailure(.smsFailure, "failed"))
      let page = try await anna.post(
        "/codes",
        ["uuid": uuid, "test": "likely", "symptoms": "2027-01-12", "phone": "+48 123456789"])
      #expect(page.status == 422 && page.text.contains("value=\"+48 123456789\""))
      #expect(page.text.contains("value=\"2027-01-12\""))
      #expect(page.text.contains("value=\"likely\" checked"))
      console.authority.state.failure = nil
      #expect(try await anna.get("/codes/issued").element("none") != nil)
      // A form that is sent again from the browser's history, with a fault, takes no issued code off the list.
      let back = try await anna.get("/codes/new").field("uuid")
      _ = try await anna.post("/codes", ["uuid": back, "test": "likely"])
      let batch = try await anna.get("/codes/batch").field("batch")
      _ = try await anna.post("/codes/batch", ["batch": batch, "lines": "A-1,likely"])
      console.authority.state.failure = .notIssued(VerificationFailure(.invalidDate, "date"))
      let twice = try await anna.post("/codes", ["uuid": back, "test": "likely"])
      #expect(twice.status == 422)
      _ = try await anna.post("/codes/batch", ["batch": batch, "lines": "A-1,likely\nA-2,likely"])
      console.authority.state.failure = nil
      let listed = try await anna.get("/codes/issued").text
      #expect(listed.contains(back))
      #expect(listed.matches(of: /<th role="rowheader" scope="row">/).count == 2)
      // The outcome of a request without a response is shown once it is known.
      console.authority.state.failure = .unavailable
      let lost = try await anna.get("/codes/new").field("uuid")
      _ = try await anna.post("/codes", ["uuid": lost, "test": "likely"])
      console.authority.state.failure = nil
      #expect(try await anna.get("/codes/issued").text.contains("not issued, or deleted"))
    }
  }

  @Test("Codes of a list have its number, pages have 25 codes, and codes of 28 days ago are gone")
  func lists() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let batch = try await anna.get("/codes/batch").field("batch")
      let lines = (1...26).map { "A-\($0),likely" }.joined(separator: "\n")
      _ = try await anna.post("/codes/batch", ["batch": batch, "lines": lines])
      let page = try await anna.get("/codes/issued?number=\(batch)")
      #expect(page.text.matches(of: /<th role="rowheader" scope="row">/).count == 25)
      #expect(page.text.contains("id=\"older\""))
      let older = try await anna.get("/codes/issued?number=\(batch)&skip=25")
      #expect(older.text.matches(of: /<th role="rowheader" scope="row">/).count == 1)
      #expect(!older.text.contains("id=\"older\""))
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      console.serviceClock.advance(by: 28 * 86_400 - 1)
      #expect(try await anna.get("/codes/issued?number=\(batch)").element("none") == nil)
      console.serviceClock.advance(by: 1)
      // No further code is issued.
      #expect(try await anna.get("/codes/issued").element("none") != nil)
      #expect(try await ewa.get("/officials").element("officials-csv") == nil)
      await console.console.checkStoredData()
      let store = console.administration.composition.issuedCodes(console.serviceClock)
      #expect(try await store.count(since: 0) == 0)
      let new = try await issue(anna)
      let rest = try await anna.get("/codes/issued")
      #expect(
        rest.text.matches(of: /<th role="rowheader" scope="row">/).count == 1
          && rest.text.contains(new))
    }
  }

  @Test("The counts by official are of the office's days, and small ones are not shown")
  func officials() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let jan = try await console.signedIn(.issuer, name: "Jan")
      _ = try await issue(jan)
      // 23:30 UTC is the next day in Warsaw.
      console.serviceClock.advance(by: 15 * 3_600 + 1_800)
      let batch = try await anna.get("/codes/batch").field("batch")
      let lines = (1...10).map { "A-\($0),likely" }.joined(separator: "\n")
      _ = try await anna.post("/codes/batch", ["batch": batch, "lines": lines])
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      let csv = try await ewa.get("/officials/csv")
      #expect(
        CSV.fields(csv.text) == [
          ["Date", "Official", "Codes issued"], ["2027-01-16", "Anna", "10"],
          ["2027-01-15", "Jan", "fewer than 10"],
        ])
      #expect(try await ewa.get("/officials").text.contains(">fewer than 10<"))
      #expect(try await anna.get("/officials").status == 403)
    }
  }

  @Test("Codes by system are a page and a file in both languages, of the newest days")
  func issuers() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      #expect(try await ewa.get("/issuers").element("none") != nil)
      let last = ConsoleLimit.funnelDaysMax + 1
      console.authority.state.issuers = (1...last).reversed().map { day in
        IssuerCodes(
          day: OfficeTime.utcDay(RunningConsole.start.addingTimeInterval(86_400 * Double(day))),
          kind: day == last ? .externalIssuer : .apiKey, name: "=clinic <\(day)>", codes: 10 * day)
      }
      let page = try await ewa.get("/issuers").text
      #expect(page.contains("<td>external issuer</td><td>=clinic &lt;\(last)&gt;</td>"))
      #expect(page.matches(of: /<th scope="row"/).count == ConsoleLimit.funnelDaysMax)
      let rows = CSV.fields(try await ewa.get("/issuers/csv").text)
      #expect(rows.first == ["Date", "Known by", "Name", "Codes issued"])
      #expect(rows.count == last && rows[1].dropFirst(2) == ["'=clinic <\(last)>", "\(10 * last)"])
      _ = try await ewa.get("/language/pl?next=/issuers")
      let polish = try await ewa.get("/issuers/csv").text
      #expect(polish.contains(";zewnętrzny wystawca;") && polish.contains(";klucz API;"))
      console.authority.state.failure = .unavailable
      #expect(try await ewa.get("/issuers").status == 503)
      let anna = try await console.signedIn(.issuer, name: "Anna")
      #expect(try await anna.get("/issuers/csv").status == 403)
    }
  }

  @Test("Invalid codes and the attempts of apps are a table and a file in both languages")
  func attempts() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      #expect(try await ewa.get("/issuers").element("no-attempts") != nil)
      console.authority.state.attempts = SimulatedAuthority.attempts
      let page = try await ewa.get("/issuers").text
      #expect(page.contains("<td>all apps</td><td>–</td><td>40</td><td>–</td><td>0</td>"))
      #expect(page.contains("<td>0</td><td>10</td><td>20</td><td>0</td></tr>"))
      #expect(page.contains("<td>110</td><td>30</td><td>100</td><td>0</td><td>–</td>"))
      let rows = CSV.fields(try await ewa.get("/attempts/csv").text)
      #expect(
        rows == [
          [
            "Date", "App", "Codes redeemed", "Invalid codes", "Tokens exchanged", "Tokens refused",
            "Invalid codes on iOS", "Invalid codes on Android", "Invalid codes on unknown systems",
          ],
          ["2027-01-14", "all apps", "–", "40", "–", "0", "10", "20", "0"],
          ["2027-01-14", "app (5b1f000000000000)", "110", "30", "100", "0", "–", "–", "–"],
        ])
      _ = try await ewa.get("/language/pl?next=/issuers")
      #expect(try await ewa.get("/attempts/csv").text.contains(";wszystkie aplikacje;"))
      let anna = try await console.signedIn(.issuer, name: "Anna")
      #expect(try await anna.get("/attempts/csv").status == 403)
    }
  }

  @Test("The verification server gets the name of the official with each code")
  func official() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      _ = try await issue(anna)
      let jan = try await console.signedIn(.issuer, name: "Jan")
      let batch = try await jan.get("/codes/batch").field("batch")
      _ = try await jan.post("/codes/batch", ["batch": batch, "lines": "A-1,likely"])
      #expect(console.authority.state.requests.map(\.body.externalIssuerID) == ["Anna", "Jan"])
    }
  }
}
