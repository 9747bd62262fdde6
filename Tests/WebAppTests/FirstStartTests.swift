// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("The first start of the web app")
  struct FirstStartTests {
    @Test(
      "Declined consent changes nothing and is asked for again; with consent, the phone is turned on",
      .timeLimit(.minutes(Patience.minutes)))
    func declinedThenAgreed() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          #expect(try await !browser.address().contains("secret"))
          try await browser.act("next", to: "how")
          try await browser.act("next", to: "consent")
          try await browser.act("decline", to: "second-chance")
          #expect(try await scene.phone.facts(.status)["enabled"] as? Bool == false)
          try await browser.act("skip-consent", to: "home")
          #expect(try await browser.count("[data-problem=off]") == 1)
          // The next start offers the second chance again.
          try await browser.reload()
          try await browser.waitForScreen("second-chance")
          try await browser.act("agree", to: "ready")
          #expect(try await scene.phone.facts(.status)["enabled"] as? Bool == true)
          try await browser.act("finish", to: "home")
          #expect(try await browser.count("[data-problem=off]") == 0)
          try await browser.reload()
          try await browser.waitForScreen("home")
          #expect(try await browser.errorLog() == [])
        }
      }
    }

    @Test(
      "A phone that has never checked does not say that there is no risk",
      .timeLimit(.minutes(Patience.minutes)))
    func unchecked() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      // Nothing listens on port 1.
      try scene.phone.configure(
        servers: ["verification": scene.authority.verification, "keys": "http://127.0.0.1:1"],
        authority: scene.authority.servers.data)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          try await browser.finishOnboarding()
          try await browser.act("check-now")
          try await browser.wait(until: "document.querySelector('[data-problem=check]')")
          #expect(try await browser.count("[data-risk=unknown]") == 1)
          #expect(try await browser.message(61)["riskLevel"] == 0)
        }
      }
    }

    @Test(
      "The chosen language holds for the page, its title, its notices and the next start",
      .timeLimit(.minutes(Patience.minutes)))
    func language() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          var titles: Set<String> = []
          for language in ["pl", "de", "uk", "en", "pl"] {
            try await browser.choose(language, in: "[data-action=language]")
            try await browser.wait(
              until: "document.documentElement.lang === a[0]", .string(language))
            titles.insert(try await browser.text("h1") + (try await browser.title()))
          }
          #expect(titles.count == 4, "\(titles)")
          try await browser.finishOnboarding()
          #expect(try await browser.message(1000)["language"] == "pl")
          try await browser.go("/settings", to: "settings")
          try await browser.choose("de", in: "[data-action=language]")
          try await browser.wait(until: "document.documentElement.lang === 'de'")
          try await browser.reload()
          try await browser.waitForScreen("settings")
          #expect(try await browser.script("return document.documentElement.lang") == "de")
        }
      }
    }

    @Test(
      "The welcome page has the language of the browser, each time, until the owner chooses one",
      .timeLimit(.minutes(Patience.minutes)))
    func browserLanguage() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          let program = try await browser.script("return navigator.userAgent")
          for (accepted, shown) in [
            ("uk-UA,uk", "uk"), ("fr-FR,de-AT,en", "de"), ("fr", "en"), ("pl", "pl"),
            // Chosen below.
            ("uk", "de"),
          ] {
            if accepted == "uk" {
              try await browser.choose("de", in: "[data-action=language]")
              try await browser.wait(until: "document.documentElement.lang === 'de'")
            }
            try await browser.devTools(
              "Emulation.setUserAgentOverride",
              ["userAgent": program, "acceptLanguage": .string(accepted)])
            try await browser.open(phone, expecting: "welcome")
            let language = try await browser.script("return document.documentElement.lang")
            #expect(language == .string(shown), "\(accepted)")
          }
        }
      }
    }

    @Test(
      "Onboarding, tabs and a dialog work with the keyboard alone",
      .timeLimit(.minutes(Patience.minutes)))
    func keyboard() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          for (action, screen) in [
            ("next", "how"), ("next", "consent"), ("agree", "ready"), ("finish", "home"),
          ] {
            try await browser.tab(to: action)
            try await browser.press(.enter)
            try await browser.waitForScreen(screen)
          }
          try await browser.tab(to: "tab-more")
          try await browser.press(.enter)
          try await browser.waitForScreen("more")
          #expect(try await browser.script("return document.activeElement.localName") == "h1")
          try await browser.go("/delete", to: "delete")
          try await browser.tab(to: "delete-history")
          try await browser.press(.space)
          try await browser.wait(until: "document.activeElement.closest('[data-dialog]')")
          for _ in 0..<4 { try await browser.press(.tab) }
          try await browser.press(.escape)
          try await browser.wait(until: "!document.querySelector('[data-dialog]')")
          #expect(
            try await browser.script("return document.activeElement.dataset.action")
              == "delete-history")
        }
      }
    }
  }
}

extension Browser {
  /// Presses Tab until the control of an action has the focus.
  fileprivate func tab(to action: String) async throws {
    // Every screen has fewer controls than this.
    for _ in 0..<60 {
      try await press(.tab)
      if try await script("return document.activeElement.dataset.action ?? ''").string == action {
        return
      }
    }
    Issue.record("Tab does not reach \(action)")
  }
}
