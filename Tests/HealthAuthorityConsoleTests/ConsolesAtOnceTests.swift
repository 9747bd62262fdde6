// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TextEncodings
import World

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
    .needs(.process), arguments: ["/sign-in", "/start"])
  func addressLimit(path: String) async throws {
    let address = try #require(try await ConsoleEngine.postgresql.newDatabase())
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

  /// Two consoles with secrets of their own, as those of two realms.
  private func runRealms(
    _ test: (_ first: RunningConsole, _ second: RunningConsole) async throws -> Void
  ) async throws {
    let folders = [try TemporaryFolder(), try TemporaryFolder()]
    try await RunningConsole.run(in: folders[0].url) { first async throws in
      try await RunningConsole.run(
        in: folders[1].url,
        configure: { $0.secret = Data(repeating: 8, count: ConsoleConfiguration.secretBytes) }
      ) { second async throws in
        try await test(first, second)
      }
    }
  }

  @Test("A link for a new account is none at the console of another authority, also for one name")
  func links() async throws {
    try await runRealms { first, second async throws in
      var paths: [String] = []
      for console in [first, second] {
        let anna = try await console.signedIn(.administrator, name: "Anna")
        let created = try await console.change(
          "/accounts", ["name": "Jan", "role": Role.issuer.rawValue], approvedBy: anna)
        paths.append(try #require(created.linkPath))
      }
      for (index, console) in [first, second].enumerated() {
        let (own, other) = (paths[index], paths[1 - index])
        let generator = try #require(try await console.browser().get(own).generator)
        #expect(try await console.browser().get(other).generator == nil)
        let code = generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
        let fields = ["password": "correct horse battery", "code": code]
        #expect(try await console.browser().post(other, fields).status != 200)
        #expect(try await console.browser().post(own, fields).status == 200)
      }
    }
  }

  @Test("A passkey is none at the console of another authority, also with the same id and name")
  func passkeys() async throws {
    try await runRealms { first, second async throws in
      var authenticators: [SoftwareAuthenticator] = []
      var handles: [Data] = []
      for console in [first, second] {
        let browser = try await console.signedIn(.issuer, name: "Anna")
        let authenticator = SoftwareAuthenticator(origin: "http://localhost:\(console.port)")
        let own = try await browser.get("/own")
        let challenge = try attribute("challenge", own)
        let fields = [
          "passkey-name": "laptop",
          "client-data": authenticator.clientData("webauthn.create", challenge).base64URL,
          "attestation": authenticator.attestation.base64URL,
        ]
        #expect(try await browser.post("/own/passkeys", fields).status == 303)
        authenticators.append(authenticator)
        handles.append(try #require(Data(base64URL: try attribute("user", own))))
      }
      for (index, console) in [first, second].enumerated() {
        for from in [1 - index, index] {
          // Also for an attacker who can name the origin of the other console.
          var authenticator = authenticators[from]
          authenticator.origin = "http://localhost:\(console.port)"
          let browser = console.browser()
          let challenge = try attribute("challenge", try await browser.get("/sign-in"))
          let assertion = try authenticator.assertion(challenge, handle: handles[from])
          let response = try await browser.post("/sign-in/passkey", fields(of: assertion))
          #expect((response.status == 303) == (from == index), "\(from) at \(index)")
        }
      }
    }
  }

  private func fields(of assertion: PasskeyCeremony.Assertion) -> [String: String] {
    [
      "id": assertion.credentialID.base64URL, "client-data": assertion.clientData.base64URL,
      "authenticator-data": assertion.authenticatorData.base64URL,
      "signature": assertion.signature.base64URL, "user-handle": assertion.userHandle.base64URL,
    ]
  }

  /// The value of an attribute for scripts.
  private func attribute(_ name: String, _ page: ConsoleBrowser.Response) throws -> String {
    let value = page.text.firstMatch(of: try Regex("data-\(name)=\"([^\"]*)\""))?.output[1]
      .substring
    return String(try #require(value))
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
