// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

extension ConsoleInBrowser {
  /// The sign-in with a password and a code, passkeys, and links for new accounts.
  @Suite("Sign-in at the console") struct SignInFlowTests {
    @Test(
      "After signing in with a pasted code, a passkey is added, signs in by itself, and is removed",
      .timeLimit(.minutes(Patience.minutes)))
    func passkey() async throws {
      try await ConsoleVisit.run(scripts: true) { visit async throws in
        let browser = visit.browser
        let credentials = try await visit.console.administration.addAccount(
          name: "Anna", role: .issuer)
        try await visit.open("/own")
        try await visit.arrive(at: "Sign in")
        try await visit.fill(name: "anna", password: credentials.password)
        let code = try visit.code(of: credentials.codeSecret)
        // As apps show it.
        try await browser.paste("\(code.prefix(3)) \(code.suffix(3))", into: "#code")
        try await visit.follow("#sign-in")
        try await visit.arrive(at: "Your account")
        #expect(try await browser.text("#signed-in") == "Signed in as Anna, issuer")
        try await browser.withAuthenticator { authenticator in
          try await browser.type("laptop", into: "#passkey-name")
          try await visit.follow("#add-passkey")
          #expect(try await browser.text("#passkeys tbody th") == "laptop")
          #expect(try await browser.passkeyCount(of: authenticator) == 1)
          try await visit.signOut()
          try await visit.follow("#sign-in-passkey")
          #expect(try await browser.text("#signed-in") == "Signed in as Anna, issuer")
          #expect(try await browser.errorLog() == [])

          try await visit.open("/own")
          try await visit.follow("#passkeys button")
          #expect(try await browser.count("#passkeys") == 0)
          try await visit.signOut()
          try await visit.follow("#sign-in-passkey")
          let fault = try await browser.text("#fault")
          #expect(fault.hasPrefix("The passkey was not accepted."))
          #expect(try await visit.status() == 401)
        }
        let methods = try await visit.console.entries().filter { $0.contains("session.started") }
        #expect(methods.count == 2 && methods[0].contains("password and code"))
        #expect(methods[1].contains("\"detail\":\"passkey\""))
      }
    }

    @Test(
      "Without scripts, an administrator's link sets up an account, which then signs in",
      .timeLimit(.minutes(Patience.minutes)))
    func link() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.administrator, name: "Adam", to: "/accounts")
        try await browser.type("Marek", into: "#name")
        try await browser.click("[name=role][value=epidemiologist]")
        try await visit.follow("#add-account")
        try await visit.request("A new colleague")
        try await visit.signOut()
        try await visit.signIn(.administrator, name: "Berta", to: "/changes")
        try await visit.follow("#approve-1")
        try await visit.arrive(at: "Link for Marek")
        let link = try await browser.text("#link")
        #expect(link.hasPrefix(visit.address("/start/")))
        try await visit.signOut()
        // Only scripts can ask for a passkey.
        #expect(
          try await browser.script("return document.querySelector('.passkey').hidden") == true)

        try await browser.open(link)
        try await visit.arrive(at: "Set up your account")
        #expect(try await browser.count("svg.qr-code[aria-label]") == 1)
        let secret = try await browser.text("#key")
        let password = "correct horse battery"
        try await browser.type(password, into: "#password")
        try await browser.type("000000", into: "#code")
        try await visit.follow("#finish")
        #expect(try await visit.message().hasPrefix("The code is not the present one."))
        try await browser.type(password, into: "#password")
        try await browser.type(try visit.code(of: secret), into: "#code")
        try await visit.follow("#finish")
        try await visit.arrive(at: "Your account is ready")
        try await visit.follow("main a[href='/sign-in']")
        try await visit.fill(name: "Marek", password: password)
        try await browser.type(try visit.code(of: secret), into: "#code")
        try await visit.follow("#sign-in")
        #expect(try await browser.text("#signed-in") == "Signed in as Marek, epidemiologist")
      }
    }
  }
}
