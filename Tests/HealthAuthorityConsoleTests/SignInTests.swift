// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The sign-in, sessions, forged requests and links for a new password, over HTTP.
@Suite struct SignInTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("Name, password and code start a session that ends at the sign-out")
  func session() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = console.browser()
      let first = try await browser.get("/codes/new")
      #expect(first.status == 303)
      #expect(first.headers["location"] == "/sign-in?next=%2Fcodes%2Fnew")
      let search = try await browser.get("/codes/issued?number=ab").headers["location"]
      #expect(search == "/sign-in?next=%2Fcodes%2Fissued%3Fnumber%3Dab")
      let credentials = try await console.administration.addAccount(name: "Anna", role: .issuer)
      let form = try await browser.get("/sign-in?next=%2Fcodes%2Fnew")
      #expect(form.status == 200 && form.field("next") == "/codes/new")
      let generator = try #require(ConsoleBrowser.generator(credentials))
      let started = try await browser.post(
        "/sign-in",
        [
          "name": "ANNA", "password": credentials.password, "next": "/codes/new",
          "code": generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond)),
        ])
      #expect(started.status == 303 && started.headers["location"] == "/codes/new")
      let cookie = try #require(started.headers["set-cookie"])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
      let page = try await browser.get("/codes/new")
      #expect(page.status == 200 && page.element("signed-in") == "Signed in as Anna, issuer")
      #expect(page.headers["cache-control"] == "no-store")
      #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
      #expect(try await browser.post("/sign-out", [:]).element("message") != nil)
      #expect(try await browser.get("/codes/new").status == 303)
      #expect(!console.log.lines.contains { $0.contains(credentials.password) })
    }
  }

  @Test("A wrong name, password or code gets the same page with status 401, and a used code too")
  func wrong() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let credentials = try await console.administration.addAccount(name: "Anna", role: .issuer)
      let browser = console.browser()
      let wrong = try await browser.signIn(credentials, at: console.clock.now, password: "no")
      #expect(wrong.status == 401)
      let fault = try #require(wrong.element("fault"))
      #expect(fault.hasPrefix("The name, the password or the code is wrong."))
      let unknown = try await browser.post(
        "/sign-in", ["name": "Berta", "password": "x", "code": "1"])
      #expect(unknown.status == 401 && unknown.element("fault") == fault)
      let oldCode = try await browser.signIn(credentials, at: console.clock.now - 3_600)
      #expect(oldCode.status == 401 && oldCode.element("fault") == fault)
      #expect(try await browser.signIn(credentials, at: console.clock.now).status == 303)
      let again = try await console.browser().signIn(credentials, at: console.clock.now)
      #expect(again.status == 401 && again.element("fault") == fault)
    }
  }

  @Test(
    "Ten minutes after the sign-in a session changes no keys, phones and accounts, until the next sign-in"
  )
  func oldSession() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      console.clock.advance(by: Double(ConsoleLimit.freshSessionSeconds) - 1)
      let added = try await browser.post("/accounts", ["name": "Anna", "role": "issuer"])
      #expect(added.status == 200)
      console.clock.advance(by: 1)
      let hash = String(repeating: "0", count: 64)
      for (path, fields) in [
        ("/accounts", ["name": "Berta", "role": "administrator"]), ("/accounts/2/link", [:]),
        ("/accounts/2/disable", [:]), ("/accounts/2/enable", [:]),
        ("/phones/pause", ["hours": "1"]), ("/phones/resume", [:]),
        ("/phones/withdraw", ["file": hash]), ("/phones/restore", ["file": hash]),
        ("/keys/rotate", ["server": "keys"]), ("/keys/api", ["name": "lab", "kind": "device"]),
        ("/keys/api/revoke", ["id": "1"]), ("/keys/authorities", ["issuer": "lab"]),
        ("/keys/authorities/remove", ["issuer": "lab"]),
        ("/keys/authorities/withdraw-key", ["issuer": "lab", "key-id": "a"]),
        ("/keys/apps", ["app": "an.app"]), ("/keys/apps/remove", ["app": "an.app"]),
      ] as [(String, [String: String])] {
        let response = try await browser.post(path, fields)
        #expect(response.status == 401, "\(path)")
        #expect(response.text.contains("Sign in again first"), "\(path)")
      }
      let refused = try await browser.post("/accounts", ["name": "Berta", "role": "issuer"])
      #expect(refused.status == 401 && refused.text.contains("Sign in again first"))
      // Pages and codes are not affected.
      #expect(try await browser.get("/accounts").status == 200)
    }
  }

  @Test("An administrator cannot make a link for the own account, but for another one")
  func ownLink() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      let own = try await browser.post("/accounts/1/link", [:])
      #expect(own.status == 409 && own.linkPath == nil)
      #expect(own.text.contains("their own account"))
      _ = try await console.change(
        "/accounts", ["name": "Anna", "role": "issuer"], approvedBy: browser)
      #expect(try await console.change("/accounts/3/link", approvedBy: browser).linkPath != nil)
    }
  }

  @Test("After five failures a name is locked for 15 minutes, whether or not it has an account")
  func lock() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let credentials = try await console.administration.addAccount(name: "Anna", role: .issuer)
      for name in ["Anna", "Berta"] {
        for attempt in 1...6 {
          let response = try await console.browser().post(
            "/sign-in", ["name": name, "password": "x", "code": "1"])
          #expect(response.status == (attempt <= 5 ? 401 : 429), "\(name) \(attempt)")
          if attempt == 6 { #expect(response.headers["retry-after"] == "900") }
        }
      }
      let locked = try await console.browser().signIn(credentials, at: console.clock.now)
      #expect(locked.status == 429)
      console.clock.advance(by: 899)
      #expect(try await console.browser().signIn(credentials, at: console.clock.now).status == 429)
      console.clock.advance(by: 1)
      #expect(try await console.browser().signIn(credentials, at: console.clock.now).status == 303)
    }
  }

  @Test("A locked account that the operator recovers signs in with the new credentials only")
  func recovered() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      var credentials = try await console.administration.addAccount(name: "Anna", role: .issuer)
      for round in 1...2 {
        let earlier = console.browser()
        #expect(try await earlier.signIn(credentials, at: console.clock.now).status == 303)
        for _ in 0...ConsoleLimit.signInFailuresMax {
          _ = try await console.browser().post(
            "/sign-in", ["name": "Anna", "password": "x", "code": "1"])
        }
        console.clock.advance(by: 30)
        let locked = try await console.browser().signIn(credentials, at: console.clock.now)
        #expect(locked.status == 429)
        let old = credentials
        credentials = try await console.administration.recoverAccount(name: "anna")
        #expect(try await earlier.get("/own").status == 401, "\(round)")
        let refused = try await console.browser().signIn(old, at: console.clock.now)
        #expect(refused.status == 401, "\(round)")
      }
      #expect(try await console.browser().signIn(credentials, at: console.clock.now).status == 303)
    }
  }

  @Test("A session ends after half an hour without requests and after ten hours with them")
  func expiry() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer)
      console.clock.advance(by: 1_799)
      #expect(try await browser.get("/codes/new").status == 200)
      console.clock.advance(by: 1_800)
      let ended = try await browser.get("/codes/new")
      #expect(ended.status == 401)
      #expect(ended.element("message")?.hasPrefix("You were signed out") == true)
      #expect(browser.cookieNames.isEmpty)

      let other = try await console.signedIn(.issuer, name: "another")
      let end = console.clock.now.addingTimeInterval(36_000)
      while console.clock.now.addingTimeInterval(1_700) < end {
        console.clock.advance(by: 1_700)
        #expect(try await other.get("/").status == 200)
      }
      console.clock.set(to: end)
      #expect(try await other.get("/").status == 401)
    }
  }

  @Test("A form without the token of the session, or of another site, gets 403 and changes nothing")
  func forged() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      let fields = ["name": "Eve", "role": "administrator"]
      let bad = fields.merging(["form-token": "guess"]) { $1 }
      let noToken = try await browser.post("/accounts", bad)
      #expect(noToken.status == 403)
      #expect(noToken.element("message")?.hasPrefix("Nothing was changed.") == true)
      for headers in [["origin": "https://evil.example"], ["sec-fetch-site": "cross-site"]] {
        #expect(try await browser.post("/accounts", fields, headers: headers).status == 403)
      }
      // A name of the attacker that resolves to the console's address.
      let rebound = "evil.example:\(console.port)"
      let headers = ["host": rebound, "origin": "http://\(rebound)"]
      #expect(try await browser.post("/accounts", fields, headers: headers).status == 421)
      let own = ["origin": "http://127.0.0.1:\(console.port)", "sec-fetch-site": "same-origin"]
      #expect(try await browser.post("/accounts", fields, headers: own).status == 200)
      let change = #"{"addAccount":{"name":"Eve","role":"administrator"}}"#
      let request = ["change": change, "reason": "x"]
      let forged = try await browser.post("/changes", request.merging(bad) { $1 })
      #expect(forged.status == 403)
      #expect(try await browser.get("/changes").text.contains("There is no open request."))
      #expect(try await browser.post("/changes", request, headers: own).status == 200)
      #expect(try await browser.get("/changes").text.contains("Add the account Eve"))
    }
  }

  @Test("An issuer on an administrator's page gets 403 and a message that names the role")
  func role() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let issuer = try await console.signedIn(.issuer)
      for path in ["/accounts", "/keys", "/phones", "/audit", "/funnel", "/configuration"] {
        let page = try await issuer.get(path)
        #expect(page.status == 403, "\(path)")
        #expect(page.element("message")?.contains("the role issuer") == true)
      }
      let form = try await issuer.post("/accounts", ["name": "Eve", "role": "administrator"])
      #expect(form.status == 403)
      let epidemiologist = try await console.signedIn(.epidemiologist)
      #expect(try await epidemiologist.get("/funnel").status == 200)
      #expect(try await epidemiologist.get("/codes/new").status == 403)
    }
  }

  @Test("An administrator's link sets a password and a code app once, and ends the sessions before")
  func link() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let created = try await console.change(
        "/accounts", ["name": "Anna", "role": "issuer"], approvedBy: administrator)
      let address = try #require(created.element("link"))
      let path = try #require(URL(string: address)?.path)
      let browser = console.browser()
      let page = try await browser.get(path)
      #expect(page.status == 200 && page.text.contains("qr-code"))
      let key = try #require(page.element("key"))
      let generator = try #require(CodeGenerator(typed: key))
      func code() -> String {
        generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
      }
      let short = try await browser.post(path, ["password": "short", "code": code()])
      #expect(short.status == 422 && short.element("fault")?.contains("12") == true)
      let password = "correct horse battery"
      let wrong = try await browser.post(path, ["password": password, "code": "000000"])
      #expect(wrong.status == 422)
      let done = try await browser.post(path, ["password": password, "code": code()])
      #expect(done.status == 200)
      #expect(try await browser.get(path).status == 404)
      console.clock.advance(by: 30)
      let started = try await browser.post(
        "/sign-in", ["name": "Anna", "password": password, "code": code()])
      #expect(started.status == 303)
      let disabled = try await console.change("/accounts/3/disable", approvedBy: administrator)
      #expect(disabled.element("notice") == "The change was carried out.")
      #expect(try await browser.get("/").status == 401)
    }
  }

  @Test("A link that is used twice at once sets one password")
  func linkTwice() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let created = try await console.change(
        "/accounts", ["name": "Anna", "role": "issuer"], approvedBy: administrator)
      let path = try #require(created.linkPath)
      let generator = try #require(try await console.browser().get(path).generator)
      let code = generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for password in ["the first password", "the second password"] {
          group.addTask {
            try await console.browser().post(path, ["password": password, "code": code]).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200, 404])
      let entries = try await console.entries()
      #expect(entries.count { $0.contains("account.credentials-set") && $0.contains("Anna") } == 1)
    }
  }

  @Test("A session above the limit of an account ends its least recently used one")
  func sessions() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let credentials = try await console.administration.addAccount(name: "Anna", role: .issuer)
      var browsers: [ConsoleBrowser] = []
      for _ in 0...ConsoleLimit.sessionsMax {
        let browser = console.browser()
        #expect(try await browser.signIn(credentials, at: console.clock.now).status == 303)
        browsers.append(browser)
        console.clock.advance(by: 30)
      }
      #expect(try await browsers[0].get("/").status == 401)
      #expect(try await browsers[1].get("/").status == 200)
      #expect(try await browsers[ConsoleLimit.sessionsMax].get("/").status == 200)
    }
  }

  @Test(
    "No account has the name that the audit log gives to commands",
    arguments: ["Command Line", "command  line", "Wiersz poleceń"])
  func reservedName(name: String) async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let page = try await administrator.post(
        "/accounts", ["name": name, "role": "issuer"])
      #expect(page.status == 422)
    }
  }

  @Test("A link expires after a day, and the last administrator cannot be disabled")
  func linkExpiry() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let refused = try await administrator.post("/accounts/1/disable", [:])
      #expect(refused.status == 409 && refused.element("fault")?.contains("administrator") == true)
      let created = try await console.change(
        "/accounts", ["name": "Anna", "role": "issuer"], approvedBy: administrator)
      let address = try #require(created.element("link"))
      let path = try #require(URL(string: address)?.path)
      console.clock.advance(by: 86_399)
      #expect(try await console.browser().get(path).status == 200)
      console.clock.advance(by: 1)
      #expect(try await console.browser().get(path).status == 404)
    }
  }

  @Test("A link works for the days of the settings, and its letter and its e-mail have the end")
  func letter() async throws {
    try await RunningConsole.run(in: folder.url, configure: { $0.linkDays = 7 }) {
      console async throws in
      let administrator = try await console.signedIn(.administrator)
      let created = try await console.change(
        "/accounts", ["name": "Anna Żak", "role": "issuer"], approvedBy: administrator)
      let address = try #require(created.element("link"))
      #expect(created.text.contains("The link works once, until 2027-01-22 09:"))
      #expect(created.text.contains("aria-label=\"QR code with the link for Anna Żak\""))
      let mail = try #require(
        created.text.firstMatch(of: /id="mail-link" href="(mailto:[^"]*)"/)?.output.1)
      let parts = try #require(
        URLComponents(
          string: String(mail).replacing("&amp;", with: "&").replacing("&#61;", with: "=")))
      #expect(parts.path.isEmpty, "the administrator chooses the recipient")
      let text = parts.queryItems?.first { $0.name == "body" }?.value
      #expect(text?.contains(address) == true && text?.contains("Anna Żak") == true)
      #expect(text?.contains("until 2027-01-22 09:") == true)
      let path = try #require(URL(string: address)?.path)
      console.clock.advance(by: 7 * 86_400 - 1)
      #expect(try await console.browser().get(path).status == 200)
      console.clock.advance(by: 1)
      let gone = try await console.browser().get(path)
      #expect(gone.status == 404 && gone.text.contains("until the time on its letter"))
    }
  }

  @Test("Pages are in the language of the browser or of the switch")
  func languages() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let polish = try await console.browser(language: "pl-PL,pl;q=0.9,en;q=0.5").get("/sign-in")
      #expect(polish.text.contains("<html lang=\"pl\">") && polish.text.contains("Zaloguj się"))
      let browser = console.browser(language: "de")
      #expect(try await browser.get("/sign-in").text.contains("<html lang=\"en\">"))
      let switched = try await browser.get("/language/pl?next=/sign-in")
      #expect(switched.status == 303 && switched.headers["location"] == "/sign-in")
      #expect(try await browser.get("/sign-in").text.contains("<html lang=\"pl\">"))
      #expect(try await browser.get("/language/pl?next=//evil.example").headers["location"] == "/")
      let form = try await browser.get("/sign-in?next=%2Fcodes%2Fissued%3Fnumber%3Dab")
      let link = "/language/en?next=%2Fsign%2Din%3Fnext%3D%252Fcodes%252Fissued%253Fnumber%253Dab"
      #expect(form.text.contains("href=\"\(link)\""))
      let back = try #require(try await browser.get(link).headers["location"])
      #expect(try await browser.get(back).field("next") == "/codes/issued?number=ab")
      _ = try await browser.get("/language/pl?next=/")
      let missing = try await browser.get("/nowhere")
      #expect(missing.status == 404 && missing.text.contains("Nie ma takiej strony"))
    }
  }

  @Test("Attempts of one address are limited over all names")
  func addressLimit() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      for attempt in 1...(ConsoleLimit.addressFailuresMax + 1) {
        let response = try await console.browser().post(
          "/sign-in", ["name": "name \(attempt)", "password": "x", "code": "1"])
        #expect(response.status == (attempt <= ConsoleLimit.addressFailuresMax ? 401 : 429))
      }
    }
  }
}
