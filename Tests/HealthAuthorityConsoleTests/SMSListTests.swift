// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import HealthAuthorityConsole

/// Lists whose codes are sent by SMS.
@Suite struct SMSListTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let lines =
    (1...4).map { "A-\($0),confirmed,,+4812345678\($0)" }.joined(separator: "\n")

  private func withConsole(
    _ test: (RunningConsole, ConsoleBrowser) async throws -> Void
  ) async throws {
    try await RunningConsole.run(in: folder.url, configure: { $0.sendsSMS = true }) {
      console async throws in
      try await test(console, try await console.signedIn(.issuer))
    }
  }

  /// Sends a list and waits until its page says that it is not running.
  private func ended(
    _ path: String, _ browser: ConsoleBrowser
  ) async throws -> ConsoleBrowser.Response {
    try await Patience.until {
      try await browser.get(path).element("state")?.contains("being sent") == false
    }
    return try await browser.get(path)
  }

  private func send(
    _ browser: ConsoleBrowser, _ lines: String = Self.lines, number: String? = nil
  ) async throws -> String {
    var fields = ["batch": try await browser.get("/codes/batch").field("batch"), "lines": lines]
    fields["number"] = number
    let response = try await browser.post("/codes/batch", fields)
    try #require(response.status == 303, "\(response.text)")
    return try #require(response.headers["location"])
  }

  @Test("Each reference gets one SMS, the page has the progress and no code and no number")
  func progress() async throws {
    try await withConsole { console, browser in
      console.authority.state.isIssueHeld = true
      let path = try await send(browser, Self.lines + "\nA-1,confirmed,,+48123456781")
      let running = try await browser.get(path)
      #expect(running.headers["refresh"] == "5")
      #expect(running.element("summary") == "Sent: 0. Not sent because of a fault: 0. Waiting: 4.")
      #expect(try await browser.get(path + "?updates=off").headers["refresh"] == nil)
      console.authority.state.isIssueHeld = false
      let page = try await ended(path, browser)
      #expect(page.headers["refresh"] == nil)
      #expect(page.element("summary") == "Sent: 4. Not sent because of a fault: 0. Waiting: 0.")
      #expect(!page.text.contains("+48123") && !page.text.contains("AB101C"))
      let requests = console.authority.state.requests
      #expect(requests.map(\.phone) == (1...4).map { "+4812345678\($0)" })
      let other = try await console.signedIn(.issuer, name: "Jan")
      #expect(try await other.get(path).status == 404)
      console.serviceClock.advance(by: ConsoleLimit.smsListSeconds - 1)
      #expect(try await browser.get(path).status == 200)
      console.serviceClock.advance(by: 1)
      #expect(try await browser.get(path).status == 404)
      let entries = try await console.entries()
      #expect(entries.contains { $0.contains("4 codes by SMS") })
      #expect(!entries.contains { $0.contains("+48123") })
    }
  }

  @Test("A list that is interrupted continues, and no code is sent twice")
  func interrupted() async throws {
    try await withConsole { console, browser in
      console.authority.state.issueFailures = [
        2: .notIssued(VerificationFailure(.smsQueueFull, "full"))
      ]
      let path = try await send(browser)
      let page = try await ended(path, browser)
      #expect(page.element("state")?.contains("Too many SMS wait") == true)
      #expect(page.element("summary") == "Sent: 2. Not sent because of a fault: 0. Waiting: 2.")
      // Only codes that were issued are listed and counted.
      #expect(try await listed(browser) == 2)
      console.authority.state.issueFailures = [:]
      #expect(try await browser.post(path + "/resume", [:]).status == 303)
      let done = try await ended(path, browser)
      #expect(done.element("summary") == "Sent: 4. Not sent because of a fault: 0. Waiting: 0.")
      #expect(console.authority.state.requests.count == 4)
      #expect(try await listed(browser) == 4)
    }
  }

  /// The number of codes that an official has issued.
  private func listed(_ browser: ConsoleBrowser) async throws -> Int {
    try await browser.get("/codes/issued").text.matches(of: /<th role="rowheader"/).count
  }

  @Test("A number that gets no SMS does not stop the list; a gateway that fails three times does")
  func faults() async throws {
    try await withConsole { console, browser in
      let bad = AuthorityFailure.notIssued(VerificationFailure(.phoneNumberInvalid, "bad"))
      console.authority.state.issueFailures = [1: bad]
      let page = try await ended(try await send(browser), browser)
      #expect(page.element("summary") == "Sent: 3. Not sent because of a fault: 1. Waiting: 0.")
      #expect(page.text.contains("No SMS can be sent to this number"))
      #expect(try await listed(browser) == 3)
      let failed = AuthorityFailure.notIssued(VerificationFailure(.smsFailure, "failed"))
      console.authority.state.issueFailures = [0: failed, 1: failed, 2: failed, 3: failed]
      let lines = Self.lines.replacing("A-", with: "B-")
      let stopped = try await ended(try await send(browser, lines), browser)
      #expect(stopped.element("state")?.contains("could not be sent") == true)
      #expect(stopped.element("summary")?.hasSuffix("Waiting: 2.") == true)
    }
  }

  @Test("At most 20 lists are kept: a finished one makes place, one that can be continued does not")
  func many() async throws {
    try await withConsole { console, browser in
      let first = try await send(browser, "A,confirmed,,+48123456781")
      _ = try await ended(first, browser)
      console.authority.state.issueFailures = [1: .unavailable]
      for _ in 2...ConsoleLimit.smsListsMax {
        _ = try await ended(try await send(browser, "A,confirmed,,+48123456782"), browser)
      }
      #expect(try await browser.get(first).status == 200)
      _ = try await ended(try await send(browser, "A,confirmed,,+48123456782"), browser)
      #expect(try await browser.get(first).status == 404)
      let batch = try await browser.get("/codes/batch").field("batch")
      let refused = try await browser.post(
        "/codes/batch", ["batch": batch, "lines": "A,confirmed,,+48123456782"])
      #expect(refused.status == 422)
      #expect(refused.element("fault")?.hasPrefix("Too many lists") == true)
    }
  }

  @Test("After a restart, the same file with the number of the list sends only the rest")
  func restarted() async throws {
    let authority = SimulatedAuthority()
    authority.state.issueFailures = [2: .unavailable]
    var number = ""
    try await RunningConsole.run(
      in: folder.url, authority: authority, configure: { $0.sendsSMS = true }
    ) { console async throws in
      let browser = try await console.signedIn(.issuer)
      let page = try await ended(try await send(browser), browser)
      number = page.element("number") ?? ""
    }
    authority.state.issueFailures = [:]
    try await RunningConsole.run(
      in: folder.url, authority: authority, configure: { $0.sendsSMS = true }
    ) { console async throws in
      let browser = try await console.signedIn(.issuer, name: "Jan")
      let gone = try await browser.get("/codes/batch/\(number)")
      #expect(gone.status == 404 && gone.element("message")?.contains("same file") == true)
      let path = try await send(browser, number: number)
      let page = try await ended(path, browser)
      #expect(page.element("summary") == "Sent: 4. Not sent because of a fault: 0. Waiting: 0.")
      #expect(page.text.contains("sent before"))
      #expect(authority.state.requests.count == 4)
    }
  }

  @Test("A list that an earlier version began keeps the numbers of decomposed references")
  func begunEarlier() async throws {
    let scene = try await ConsoleScene(.sqlite, in: folder)
    _ = try await scene.administration.addAccount(name: "Anna", role: .issuer)
    let account = try await scene.account("Anna")
    let batch = try #require(UUID(uuidString: "0b1c2d3e-0000-4000-8000-000000000001"))
    let reader = CodeListReader(
      batch: batch, times: OfficeTime(zone: .gmt, language: .english), now: RunningConsole.start,
      sendsSMS: true)
    let text = "Zoe\u{308},confirmed,,+48123456781\nA,confirmed,,+48123456782"
    let list = try reader.list(text)
    let earlier = try #require(list.entries[0].earlierNumber)
    #expect(list.entries[1].earlierNumber == nil)
    let composed = try reader.list(text.precomposedStringWithCanonicalMapping)
    #expect(composed.entries[0].earlierNumber == nil)
    let store = scene.issuedCodes
    let new = try await store.keepingNumbers(list)
    #expect(new.entries.map(\.request.uuid) == list.entries.map(\.request.uuid))
    var request = list.entries[0].request
    request.uuid = earlier
    try await store.add([request], list: batch, by: account)
    let kept = try await store.keepingNumbers(list)
    #expect(kept.entries.map(\.request.uuid) == [earlier, list.entries[1].request.uuid])
  }
}
