// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// Accounts from a list.
@Suite struct AccountImportTests {
  @Test("A list of accounts is one request; who approves sees a link for each, and they work")
  func list() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.runWithAdministrators(in: folder.url) { console, anna, berta in
      let effect = try await anna.post(
        "/accounts/import",
        ["lines": "Nazwa;Rola\nEwa Lis;wydawca kodów\nJan Maj;epidemiologist\n"])
      #expect(effect.status == 200 && effect.text.contains("Ewa Lis, issuer"), "\(effect.text)")
      let change = effect.field("change").replacing("&quot;", with: "\"")
      let requested = try await anna.post("/changes", ["change": change, "reason": "new office"])
      #expect(requested.element("notice") != nil)
      let number = try #require(requested.text.firstMatch(of: /id="change-(\d+)"/)).1
      #expect(try await anna.post("/changes/\(number)/approve", [:]).status == 422)
      let page = try await berta.post("/changes/\(number)/approve", [:])
      let paths = page.text.matches(of: /href="http:\/\/[^"]*(\/start\/[^"]+)"/).map {
        String($0.1)
      }
      #expect(paths.count == 2 && Set(paths).count == 2)
      #expect(page.text.contains("This link is for Jan Maj.") && page.text.contains("2027-01-16"))
      for path in paths {
        #expect(try await console.browser().get(path).text.contains("id=\"key\""))
      }
      let entries = try await console.entries()
      #expect(entries.count { $0.contains("account.added") && $0.contains("Ewa Lis") } >= 1)
      #expect(!entries.contains { $0.contains(paths[0].suffix(20)) })
    }
  }

  @Test("All faults of a list are reported with their lines, and nothing is requested")
  func faults() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.runWithAdministrators(in: folder.url) { console, anna, _ in
      let page = try await anna.post(
        "/accounts/import",
        ["lines": "Ewa,issuer\nx,issuer\nJan,boss\nEwa,administrator\nBerta,issuer\ny,boss\n"])
      #expect(page.status == 422 && page.element("fault")?.hasSuffix("list: 6.") == true)
      for fault in [
        "Line 2: A name has", "Line 3: the role must be", "Line 4: the name Ewa",
        "Line 5: the name Berta is taken", "Line 6: A name has", "Line 6: the role must be",
      ] {
        #expect(page.text.contains(fault), "\(fault)")
      }
      let taken = try await anna.post("/accounts/import", ["lines": "Berta,issuer"])
      #expect(taken.status == 422 && taken.element("fault") != nil)
      let quote = try await anna.post("/accounts/import", ["lines": "\"Ewa,issuer\n"])
      #expect(quote.text.contains("<li>Line 1: a quotation mark is not closed"))
      let ola = try await console.signedIn(.administrator, name: "Ola", language: "pl")
      let polish = try await ola.get("/accounts/import").text
      #expect(polish.contains("Anna Nowak;wydawca kodów\nJan Kowalski;epidemiolog"))
      let lines = (1...51).map { "Official \($0),issuer" }.joined(separator: "\n")
      let many = try await anna.post("/accounts/import", ["lines": lines])
      #expect(many.status == 422 && many.text.contains("more than 50 lines"))
      let jan = try await anna.get("/changes")
      #expect(!jan.text.contains("id=\"change-"))
    }
  }
}
