// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import HealthAuthorityConsole

/// The pages about codes, over HTTP.
@Suite struct CodePageTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A code is shown once with QR code, link and SMS; the same form sent again issues none")
  func issue() async throws {
    try await RunningConsole.run(
      in: folder.url, configure: { $0.appAddress = URL(string: "https://app.example/") }
    ) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let form = try await browser.get("/codes/new")
      let fields = ["uuid": form.field("uuid"), "test": "confirmed", "symptoms": "2027-01-12"]
      let page = try await browser.post("/codes", fields)
      #expect(page.status == 200)
      #expect(page.element("issued-code") == "AB1 01C")
      #expect(page.element("expires") == "Valid until 2027-01-15 09:30 CET")
      #expect(page.element("app-link") == "https://app.example/#/share?pin=AB101C")
      #expect(page.element("sms")?.contains("AB101C") == true)
      #expect(page.element("uuid") == fields["uuid"])
      #expect(page.text.contains("class=\"qr-code\""))
      let again = try await browser.post("/codes", fields)
      #expect(again.status == 409 && again.element("message")?.contains("only one code") == true)
      #expect(console.authority.state.requests.map(\.symptomDate) == ["2027-01-12"])
      #expect(!console.log.lines.contains { $0.contains("AB101C") })
      let entries = try await console.entries()
      #expect(!entries.contains { $0.contains("AB101C") })
      #expect(entries.contains { $0.contains("code.issued") && $0.contains(fields["uuid"] ?? "-") })
    }
  }

  @Test("At 00:30 in the office, its new day is today, in the form, the request and the SMS")
  func officeDay() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer, language: "pl")
      // 23:30 UTC.
      console.serviceClock.advance(by: 15 * 3_600 + 1_800)
      let form = try await browser.get("/codes/new")
      #expect(form.text.contains(#"min="2026-12-19" max="2027-01-16""#))
      let page = try await browser.post(
        "/codes", ["uuid": form.field("uuid"), "test": "confirmed", "symptoms": "2027-01-16"])
      #expect(page.status == 200)
      #expect(page.element("sms")?.contains("do 2027-01-15 09:30 CET,") == true)
      let request = try #require(console.authority.state.requests.first)
      #expect(request.symptomDate == "2027-01-16" && request.minutesAheadOfUTC == 60)
      let list = try await browser.get("/codes/batch")
      #expect(list.text.contains("A-17;potwierdzony;2027-01-16\nA-18;prawdopodobny;"))
      _ = try await browser.post(
        "/codes/batch", ["batch": list.field("batch"), "lines": "A-1,confirmed,2027-01-16"])
      #expect(console.authority.state.requests.last?.minutesAheadOfUTC == 60)
    }
  }

  @Test("The status shows if a code was used, and a code can be ended")
  func status() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let uuid = try await browser.get("/codes/new").field("uuid")
      _ = try await browser.post("/codes", ["uuid": uuid, "test": "confirmed"])
      let unused = try await browser.post("/codes/status", ["uuid": uuid])
      #expect(unused.element("state")?.hasPrefix("The code was not used yet.") == true)
      #expect(unused.text.contains("id=\"expire\""))
      let ended = try await browser.post("/codes/expire", ["uuid": uuid])
      #expect(ended.element("notice") == "The code was ended.")
      #expect(ended.element("state")?.contains("expired at 2027-01-15 08:59 CET") == true)
      #expect(!ended.text.contains("id=\"expire\""))
      let bad = try await browser.post("/codes/status", ["uuid": "AB101C"])
      #expect(bad.status == 422)
      let unknown = try await browser.post(
        "/codes/status", ["uuid": "0b1c2d3e-0000-4000-8000-000000000001"])
      #expect(unknown.status == 404 && unknown.element("fault") == "It does not exist")
    }
  }

  @Test("A phone number is freed with the same page for every number, and the audit log has none")
  func freePhone() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let page = try await anna.post("/codes/free-phone", ["phone": "+48 123-456-789"])
      #expect(page.status == 200 && page.element("phone-notice") != nil)
      #expect(!page.text.contains("456"))
      // A second time, by a second official, in the second language.
      let adam = try await console.signedIn(.administrator, name: "Adam")
      _ = try await adam.get("/language/pl?next=/codes/status")
      let again = try await adam.post("/codes/free-phone", ["phone": "0048123456789"])
      #expect(again.element("phone-notice")?.hasPrefix("Zgłoszenie z tego numeru") == true)
      #expect(console.authority.state.freedPhones == ["+48123456789", "+48123456789"])
      for wrong in ["", "123456789", "911"] {
        let refused = try await anna.post("/codes/free-phone", ["phone": wrong])
        #expect(refused.status == 422 && refused.element("phone-fault") != nil)
      }
      console.authority.state.failure = .notIssued(
        VerificationFailure(.unsupportedTestType, "This server accepts no user reports."))
      let off = try await anna.post("/codes/free-phone", ["phone": "+48123456789"])
      #expect(off.element("phone-fault")?.contains("accepts no reports of people") == true)
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      #expect(try await ewa.post("/codes/free-phone", ["phone": "+48123456789"]).status == 403)
      let log = try await adam.get("/audit?action=phone.freed").text
      #expect(log.contains("Anna") && !log.contains("456789"))
    }
  }

  @Test("The page of a code that was sent by SMS says so, and that of another one does not")
  func sentBySMS() async throws {
    try await RunningConsole.run(in: folder.url, configure: { $0.sendsSMS = true }) {
      console async throws in
      let browser = try await console.signedIn(.issuer)
      for phone in ["+48123456789", ""] {
        let uuid = try await browser.get("/codes/new").field("uuid")
        let page = try await browser.post(
          "/codes", ["uuid": uuid, "test": "confirmed", "phone": phone])
        #expect(page.status == 200 && (page.element("sent") == nil) == phone.isEmpty)
      }
    }
  }

  @Test("A list gives codes beside the references, as a page or as CSV")
  func batch() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let batch = try await browser.get("/codes/batch").field("batch")
      let lines = "reference,test,day\n=A,confirmed,2027-01-12\n\"B, 2\",likely,\n"
      let csv = try await browser.post(
        "/codes/batch", ["batch": batch, "lines": lines, "as": "csv"])
      #expect(csv.headers["content-disposition"] == "attachment; filename=\"codes.csv\"")
      let rows = CSV.fields(csv.text)
      #expect(
        rows.map { Array($0.prefix(2)) }
          == [["Reference", "Code"], ["'=A", "AB101C"], ["B, 2", "AB102C"]])
      let again = try await browser.post("/codes/batch", ["batch": batch, "lines": lines])
      #expect(again.element("summary") == "0 codes issued, 2 lines with a fault.")
      #expect(console.authority.state.requests.count == 2)
    }
  }

  @Test("An uploaded list is read, and the first error of a list is reported with its line")
  func file() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let page = try await browser.get("/codes/batch")
      let parts = [
        ("form-token", "", page.field("form-token")), ("batch", "", page.field("batch")),
        ("file", "; filename=\"list.csv\"", "1;confirmed;\r\n2;likely;2027-01-12\r\n"),
        ("lines", "", ""), ("as", "", "page"),
      ]
      let body =
        parts.map { name, extra, value in
          "--b1\r\nContent-Disposition: form-data; name=\"\(name)\"\(extra)\r\n\r\n\(value)\r\n"
        }.joined() + "--b1--\r\n"
      let response = try await browser.send(
        "POST", "/codes/batch", Data(body.utf8),
        ["content-type": "multipart/form-data; boundary=b1"])
      #expect(response.element("summary") == "2 codes issued, 0 lines with a fault.")
      let faults = [
        "": "There are no lines", "1,positive,": "Line 1: the test",
        "1,likely,soon": "Line 1: the day",
        "1": "Line 1: expected",
      ]
      for (lines, fault) in faults {
        let refused = try await browser.post(
          "/codes/batch", ["batch": page.field("batch"), "lines": lines])
        #expect(refused.status == 422 && refused.element("fault")?.hasPrefix(fault) == true)
      }
      // Browsers leave out the first line break of a text field: the lines keep their numbers.
      let shifted = try await browser.post(
        "/codes/batch", ["batch": page.field("batch"), "lines": "\r\n1,positive,"])
      #expect(shifted.element("fault")?.hasPrefix("Line 2: the test") == true)
      #expect(shifted.text.contains("spellcheck=\"false\">\n\r\n1,positive,</textarea>"))
      let many = (0...ConsoleLimit.batchCodesMax).map { "\($0),likely" }.joined(separator: "\n")
      let refused = try await browser.post(
        "/codes/batch", ["batch": page.field("batch"), "lines": many])
      #expect(refused.element("fault")?.hasPrefix("There are more than 500 lines") == true)
    }
  }

  @Test("A server that does not answer gets 503, its refusal is shown, and both are recorded")
  func failures() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let uuid = try await browser.get("/codes/new").field("uuid")
      console.authority.state.failure = .unavailable
      let lost = try await browser.post("/codes", ["uuid": uuid, "test": "confirmed"])
      #expect(lost.status == 503 && lost.element("message")?.hasPrefix("Nothing is lost.") == true)
      console.authority.state.failure = .refused("Dates must not be in the future.")
      let refused = try await browser.post("/codes", ["uuid": uuid, "test": "confirmed"])
      #expect(refused.status == 422)
      #expect(refused.element("fault") == "Dates must not be in the future.")
      let failed = try await console.entries().filter { $0.contains("action.failed") }
      #expect(failed.count == 2)
    }
  }

  @Test("A form that is too large, malformed or sent twice in one field gets a page")
  func forms() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let large = try await browser.post(
        "/codes/batch", ["lines": String(repeating: "a", count: ConsoleLimit.formBytesMax)])
      #expect(large.status == 413 && large.element("message")?.contains("256") == true)
      let type = ["content-type": "application/x-www-form-urlencoded"]
      for body in ["uuid=1&uuid=2", "uuid=%zz", "uuid=%"] {
        #expect(try await browser.send("POST", "/codes", Data(body.utf8), type).status == 400)
      }
      let json = try await browser.send(
        "POST", "/codes", Data("{}".utf8), ["content-type": "application/json"])
      #expect(json.status == 400)
    }
  }
}

extension RunningConsole {
  /// The lines of the audit log.
  func entries() async throws -> [String] {
    let lines = CollectedLines()
    try await administration.audit { line, _ in lines.append(line) }
    return lines.all
  }
}
