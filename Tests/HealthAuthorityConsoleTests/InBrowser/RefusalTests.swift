// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

extension ConsoleInBrowser {
  /// The pages that refuse something: one message each, and a way to go on. Without scripts.
  @Suite("Refusals of the console") struct RefusalTests {
    @Test(
      "A wrong password gets one message, five lock the name, and the lock ends after 15 minutes",
      .timeLimit(.minutes(Patience.minutes)))
    func wrongPassword() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        let credentials = try await visit.console.administration.addAccount(
          name: "Anna", role: .issuer)
        try await visit.open("/sign-in")
        for _ in 1...5 {
          try await visit.tryPassword("wrong", "000000", of: credentials)
          #expect(try await visit.status() == 401)
        }
        let message = try await visit.message()
        #expect(message.hasPrefix("The name, the password or the code is wrong."))
        let fields = try await browser.script(
          "return ['name', 'password'].map(id => document.getElementById(id).value)")
        #expect(fields == ["Anna", ""])
        let code = try visit.code(of: credentials.codeSecret)
        try await visit.tryPassword(credentials.password, code, of: credentials)
        #expect(try await visit.message().hasPrefix("Too many attempts failed. Wait 15 minutes"))
        #expect(try await visit.status() == 429)
        visit.console.clock.advance(by: 900)
        let next = try visit.code(of: credentials.codeSecret)
        try await visit.tryPassword(credentials.password, next, of: credentials)
        #expect(try await browser.text("#signed-in") == "Signed in as Anna, issuer")
      }
    }

    @Test(
      "A form with another token and a form of another site change nothing",
      .timeLimit(.minutes(Patience.minutes)))
    func forged() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.administrator, name: "Adam", to: "/phones")
        try await browser.script(
          "for (const field of document.querySelectorAll('[name=form-token]')) field.value = 'guess'"
        )
        try await visit.follow("#pause")
        try await visit.arrive(at: "The request did not come from this console")
        #expect(try await visit.message().hasPrefix("Nothing was changed."))
        #expect(try await visit.status() == 403)

        try await visit.open("/phones")
        let token = try await browser.script(
          "return document.querySelector('main [name=form-token]').value"
        ).string
        let site = try TestPage(
          """
          <form method="post" action="\(visit.address("/phones/pause"))">
          <input type="hidden" name="form-token" value="\(try #require(token))">
          <button>Win</button></form>
          """)
        try await browser.open(site.address)
        try await visit.follow("button")
        try await visit.arrive(at: "The request did not come from this console")
        #expect(try await visit.status() == 403)
        #expect(visit.console.authority.state.pause == nil)
      }
    }

    @Test(
      "A session that has ended, a page of another role and a page that does not exist are explained",
      .timeLimit(.minutes(Patience.minutes)))
    func elsewhere() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.issuer, name: "Anna", to: "/codes/new")
        try await visit.open("/keys")
        try await visit.arrive(at: "This page is for another role")
        #expect(try await visit.message().contains("has the role issuer"))
        #expect(try await visit.status() == 403)
        #expect(try await browser.count(".menu a[href='/keys']") == 0)
        try await visit.open("/nowhere")
        try await visit.arrive(at: "There is no such page")
        #expect(try await visit.message().hasPrefix("Check the address"))

        try await visit.open("/codes/new")
        visit.console.clock.advance(by: TimeInterval(ConsoleLimit.sessionIdleSeconds))
        try await visit.follow("#issue")
        try await visit.arrive(at: "Your session has ended")
        #expect(try await visit.message().contains("Nothing was changed. Sign in again"))
        #expect(try await visit.status() == 401)
        #expect(visit.console.authority.state.requests.isEmpty)
        try await visit.follow("main a[href='/sign-in']")
        try await visit.arrive(at: "Sign in")
      }
    }

    @Test(
      "A server that does not answer loses nothing: the same form issues the code later",
      .timeLimit(.minutes(Patience.minutes)))
    func unavailable() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.issuer, name: "Anna", to: "/codes/new")
        visit.console.authority.state.failure = .unavailable
        try await visit.follow("#issue")
        try await visit.arrive(at: "A server does not answer")
        #expect(try await visit.message().hasPrefix("Nothing is lost."))
        #expect(try await visit.status() == 503)
        visit.console.authority.state.failure = nil
        try await browser.back()
        try await visit.follow("#issue")
        try await visit.arrive(at: "The code")
      }
    }
  }
}

extension ConsoleVisit {
  fileprivate func tryPassword(
    _ password: String, _ code: String, of credentials: ConsoleAdministration.Credentials
  ) async throws {
    try await fill(name: credentials.name, password: password)
    try await browser.type(code, into: "#code")
    try await follow("#sign-in")
  }
}
