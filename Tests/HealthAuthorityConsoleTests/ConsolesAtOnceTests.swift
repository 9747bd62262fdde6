// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// Two consoles that run at the same time: on one database, as for a moment after SIGHUP, and of two regions.
@Suite struct ConsolesAtOnceTests {
  @Test(
    "Two people who approve a change at once with two consoles carry it out once, each time",
    arguments: ConsoleEngine.allCases)
  func sameDatabase(engine: ConsoleEngine) async throws {
    let (folder, authority) = (try TemporaryFolder(), SimulatedAuthority())
    let address = try await engine.newDatabase()
    func run(_ test: (RunningConsole) async throws -> Void) async throws {
      try await RunningConsole.run(
        in: folder.url, authority: authority, configure: { $0.databaseAddress = address }, test)
    }
    try await run { first async throws in
      try await run { second async throws in
        let anna = try await first.signedIn(.administrator, name: "Anna")
        let browsers = [
          try await first.signedIn(.administrator, name: "Berta"),
          try await second.signedIn(.administrator, name: "Cara"),
        ]
        for round in 1...3 {
          let number = try await anna.request("/keys/rotate", ["server": "keys"])
          let effect = try await browsers[1].effect(of: "\(number)")
          #expect(!effect.isEmpty)
          let approvals = browsers.map { browser in
            Task {
              try await browser.post("/changes/\(number)/approve", ["effect": effect]).status
            }
          }
          let statuses = [try await approvals[0].value, try await approvals[1].value]
          #expect(statuses.sorted() == [200, 409])
          #expect(authority.state.rotated.count == round)
          for browser in browsers {
            let page = try await browser.get("/changes").text
            #expect(!page.contains("id=\"approve-\(number)\""))
          }
        }
        let approved = try await first.entries().filter { $0.contains("change.approved") }
        #expect(try await second.entries() == first.entries() && approved.count == 3)
      }
    }
  }

  @Test(
    "Two consoles with one database refuse an address after as many failures as one would",
    arguments: ["/sign-in", "/start"])
  func addressLimit(path: String) async throws {
    guard let address = try await ConsoleEngine.allCases.last?.newDatabase() else { return }
    let folder = try TemporaryFolder()
    func run(_ test: (RunningConsole) async throws -> Void) async throws {
      try await RunningConsole.run(
        in: folder.url, configure: { $0.databaseAddress = address }, test)
    }
    try await run { first async throws in
      try await run { second async throws in
        let browsers = [first.browser(), second.browser()]
        func status(_ number: Int) async throws -> Int {
          let browser = browsers[number % 2]
          guard path == "/sign-in" else {
            return try await browser.get("\(path)/\(number)").status
          }
          return try await browser.post(
            path, ["name": "name \(number)", "password": "x", "code": "1"]
          ).status
        }
        for number in 0..<ConsoleLimit.addressFailuresMax {
          #expect(try await status(number) == (path == "/start" ? 404 : 401), "\(number)")
        }
        for number in 100..<102 { #expect(try await status(number) == 429, "\(number)") }
        // An official behind the same address can sign in with both.
        _ = try await first.signedIn(.issuer, name: "Anna")
        _ = try await second.signedIn(.issuer, name: "Berta")
      }
    }
  }

  @Test("A session of one region's console is none of another's, and a number is another request")
  func regions() async throws {
    let folders = [try TemporaryFolder(), try TemporaryFolder()]
    try await RunningConsole.runWithAdministrators(in: folders[0].url) {
      first, anna, berta async throws in
      try await RunningConsole.runWithAdministrators(in: folders[1].url) {
        second, other, third async throws in
        let numbers = [
          try await anna.request("/keys/rotate", ["server": "keys"]),
          try await other.request("/keys/rotate", ["server": "keys"]),
        ]
        #expect(numbers[0] == numbers[1])
        // Browsers send the cookies of a host to all of its ports.
        let token = try #require(try await signIn(first, name: "Dora"))
        for (console, isSignedIn) in [(first, true), (second, false)] {
          let cookie = "firebreak-console-\(console.port)=\(token)"
          let page = try await console.browser().send("GET", "/changes", nil, ["cookie": cookie])
          #expect((page.status == 200) == isSignedIn)
          #expect(page.text.contains("id=\"change-\(numbers[0])\"") == isSignedIn)
        }
        #expect(try await third.post("/changes/\(numbers[1])/approve", [:]).status == 200)
        #expect(second.authority.state.rotated == [.keys])
        #expect(first.authority.state.rotated.isEmpty)
        #expect(try await berta.post("/changes/\(numbers[0])/approve", [:]).status == 200)
        #expect(first.authority.state.rotated == [.keys])
      }
    }
  }

  /// Signs in with a new account.
  ///
  /// - Returns: The token in the cookie of the session.
  private func signIn(_ console: RunningConsole, name: String) async throws -> String? {
    let credentials = try await console.administration.addAccount(name: name, role: .administrator)
    let response = try await console.browser().signIn(credentials, at: console.clock.now)
    return response.headers["set-cookie"]?.split(separator: ";").first?
      .split(separator: "=", maxSplits: 1).last.map(String.init)
  }
}
