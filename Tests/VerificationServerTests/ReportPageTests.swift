// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import WebPages

@testable import VerificationServer

/// GET and POST /report.
@Suite("Page for user reports")
struct ReportPageTests {
  private static let phone = "+48123456789"

  let folder: TemporaryFolder
  let sender = CollectedSMS()

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ attempts: AttemptLimits = AttemptLimits(perAddress: 1_000),
    configure: (inout VerificationServerConfiguration) -> Void = { _ in },
    _ test: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url, attempts: attempts,
      configure: {
        $0.policy.allowsUserReport = true
        $0.policy.offersReportPage = true
        $0.sms = SMSConfiguration(sender: sender, region: "PL", template: "[code]")
        configure(&$0)
      }, test)
  }

  private func send(
    _ server: RunningServer, phone: String = phone, day: String = "2027-01-14",
    consent: String = "yes", language: String = "en", headers: [String: String] = [:]
  ) async throws -> RunningServer.Response {
    var allowed = CharacterSet.alphanumerics
    allowed.insert("-")
    let fields = [("phone", phone), ("day", day), ("consent", consent), ("lang", language)]
    let body = fields.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
    }.joined(separator: "&")
    return try await server.post(
      "/report", body, contentType: "application/x-www-form-urlencoded", headers: headers)
  }

  private func text(_ response: RunningServer.Response) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test("A report gets a code by SMS that the app uses without a nonce")
  func report() async throws {
    try await run { server async throws in
      let sent = try await send(server, phone: "+48 123-456-789")
      #expect(sent.status == 200 && text(sent).contains("id=\"sent\""))
      #expect(await sender.messages.map(\.phone.text) == [Self.phone])
      let code = try #require(await sender.messages.first?.text)
      let verified = try await server.verify(code, accept: ["user-report"])
      let found = try JSONDecoder().decode(VerifyResponse.self, from: verified.body)
      #expect(found.testtype == "user-report" && found.testDate == "2027-01-14")
    }
  }

  @Test(
    "The page is the same for a number that must wait, which gets no second SMS, from either way")
  func same() async throws {
    try await run { server async throws in
      let first = try await send(server)
      let again = try await send(server)
      #expect(first.body == again.body && first.status == again.status)
      #expect(first.headers.keys.sorted() == again.headers.keys.sorted())
      #expect(await sender.messages.count == 1)
      let body =
        #"{"testDate":"2027-01-14","phone":"\#(Self.phone)","nonce":"\#(UserReportTests.nonce)"}"#
      #expect(try await server.device(VerificationRoute.userReport, body).status == 200)
      #expect(await sender.messages.count == 1)
      _ = try await send(server, phone: "+48123456780")
      #expect(await sender.messages.count == 2)
    }
    // After a restart, until the hour is over.
    try await run { server async throws in
      server.clock.advance(by: 3_599)
      _ = try await send(server)
      #expect(await sender.messages.count == 2)
      server.clock.advance(by: 1)
      _ = try await send(server)
      #expect(await sender.messages.count == 3)
    }
  }

  @Test("A fault is shown at its field, what was typed is kept, and nothing is sent")
  func faults() async throws {
    try await run { server async throws in
      for (phone, day, consent, fault) in [
        ("911", "2027-01-14", "yes", "phone-fault"), ("", "2027-01-14", "yes", "phone-fault"),
        (Self.phone, "", "yes", "day-fault"), (Self.phone, "yesterday", "yes", "day-fault"),
        (Self.phone, "2026-12-17", "yes", "day-fault"),
        (Self.phone, "2027-01-17", "yes", "day-fault"),
        (Self.phone, "2027-01-14", "", "consent-fault"),
      ] {
        let page = try await send(server, phone: phone, day: day, consent: consent)
        #expect(page.status == 422 && text(page).contains("id=\"\(fault)\""), "\(fault) \(day)")
        #expect(text(page).contains("value=\"\(day)\""))
      }
      let script = try await send(server, phone: "\"><script>")
      #expect(!text(script).contains("<script>"))
      // For a browser, a quotation mark with a combining mark is a quotation mark.
      let marked = try await send(server, phone: "\"\u{301} autofocus x=")
      #expect(text(marked).contains("value=\"&quot;\u{301} autofocus x=\""))
      #expect(await sender.messages.isEmpty)
      // Today anywhere on earth: at 8 o'clock in UTC, the day is the same in the Pacific.
      #expect(try await send(server, day: "2027-01-15").status == 200)
    }
  }

  @Test("The form of another site is refused, in browsers with and without fetch metadata")
  func forged() async throws {
    try await run { server async throws in
      for headers in [
        ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
        ["origin": "https://evil.example"], ["origin": "null"],
      ] {
        let page = try await send(server, headers: headers)
        #expect(page.status == 400 && text(page).contains("from another site"))
      }
      #expect(await sender.messages.isEmpty)
      let own = ["origin": "http://127.0.0.1:\(server.port)"]
      #expect(try await send(server, headers: own).status == 200)
      let fetched = ["sec-fetch-site": "same-origin", "origin": "https://proxied.example"]
      #expect(try await send(server, headers: fetched).status == 200)
    }
  }

  @Test("The limits of an address are those of the API, together with it")
  func limits() async throws {
    try await run(AttemptLimits(perAddress: 2)) { server async throws in
      let body =
        #"{"testDate":"2027-01-14","phone":"\#(Self.phone)","nonce":"\#(UserReportTests.nonce)"}"#
      _ = try await server.device(VerificationRoute.userReport, body)
      #expect(try await send(server, phone: "+48123456780").status == 200)
      let refused = try await send(server, phone: "+48123456781")
      #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
      #expect(text(refused).contains("Too many reports"))
      #expect(await sender.messages.count == 2)
    }
  }

  @Test("When the page has used its quota of the day, it says so, and the log names the page")
  func usedUp() async throws {
    let limits = AttemptLimits(perAddress: 1_000, issuesPerApiKey: 1)
    try await run(limits) { server async throws in
      #expect(try await send(server).status == 200)
      for (language, words) in [
        ("en", "accepts in a day"), ("pl", "w ciągu dnia"), ("de", "Für heute"), ("uk", "за день"),
      ] {
        let refused = try await send(server, phone: "+48123456780", language: language)
        #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
        #expect(text(refused).contains(words) && !text(refused).contains("network"), "\(language)")
      }
      #expect(await sender.messages.count == 1)
      let lines = server.log.errors.filter { $0.contains("quota of 1 codes") }
      #expect(lines.count == 1 && lines[0].contains("report page"), "\(server.log.errors)")
    }
  }

  @Test("The page names the longest time for which the hash of a number is stored")
  func stored() {
    let seconds = VerificationLimit.reportAgainSeconds + VerificationLimit.expiredCodeKeptSeconds
    for language in ReportLanguage.allCases {
      #expect(language[.stored].contains(" \(Int(seconds) / 86_400) "), "\(language)")
    }
  }

  @Test("If the SMS cannot be sent the page says so, and the number may report again at once")
  func failed() async throws {
    try await run { server async throws in
      await sender.fail(with: .failed)
      let failed = try await send(server, language: "pl")
      #expect(failed.status == 503 && text(failed).contains("nie wysłano SMS-a"))
      await sender.fail(with: nil)
      #expect(try await send(server).status == 200)
      #expect(await sender.messages.count == 1)
    }
  }

  @Test("The page has the language of the browser or of its link, and no text is missing")
  func languages() async throws {
    let faults = TextCatalogue.faults(
      of: ReportLanguage.catalogues, keys: Set(ReportText.allCases.map(\.rawValue)),
      placeholder: /%[1-9]/)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    for (header, language) in [
      ("", ReportLanguage.english), ("pl-PL,pl;q=0.9,en;q=0.8", .polish), ("uk", .ukrainian),
      ("fr,de;q=0.5,en;q=0.4", .german), ("de;q=0,en", .english), ("xx", .english),
    ] {
      #expect(ReportLanguage(accepted: header) == language, "\(header)")
    }
    try await run { server async throws in
      let german = try await server.get("/report", headers: ["accept-language": "de"])
      #expect(text(german).contains("<html lang=\"de\">"))
      let chosen = try await server.get("/report?lang=uk", headers: ["accept-language": "de"])
      #expect(text(chosen).contains("<html lang=\"uk\">"))
      #expect(try await text(send(server, language: "uk")).contains("<html lang=\"uk\">"))
      let policy = try #require(chosen.headers["content-security-policy"])
      #expect(policy.hasPrefix("default-src 'none'") && chosen.headers["set-cookie"] == nil)
      #expect(try await server.get("/report.css").status == 200)
      #expect(!server.log.lines.contains { $0.contains("48123456789") })
    }
  }

  @Test("Without the setting there is no page, and with it alone the server does not start")
  func setting() async throws {
    try await run(configure: { $0.policy.offersReportPage = false }) { server async throws in
      #expect(try await server.get("/report").status == 404)
      #expect(try await send(server).status == 404)
    }
    await #expect(throws: VerificationServerError.self) {
      try await run(configure: { $0.policy.allowsUserReport = false }) { _ in }
    }
  }
}
