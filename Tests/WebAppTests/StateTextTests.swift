// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Texts that follow the whole state of the phone")
  struct StateTextTests {
    /// Shows a screen with these fields of the state, until the phone reports another.
    private func show(
      _ fields: JSONValue, on path: String, _ screen: String, in browser: Browser
    ) async throws {
      try await browser.go("/about", to: "about")
      try await browser.script(
        """
        return import('/app/store.js').then(({ store }) => {
          store.state = { ...store.state, ...arguments[0] };
          return true;
        });
        """, fields)
      try await browser.go(path, to: screen)
    }

    @Test(
      "Encounters below all levels are one story; Bluetooth and notifications are told apart",
      .timeLimit(.minutes(Patience.minutes)))
    func states() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await scene.settle(browser)
          for exposures in [1.0, 3] {
            let state: JSONValue = [
              "riskLevel": 0, "exposures": .number(exposures), "lastCheck": 1_600_000_000,
            ]
            try await show(state, on: "/", "home", in: browser)
            #expect(try await browser.text("h1") == "Encounters without risk")
            let page = try await browser.text("main")
            #expect(page.contains("too short or too far away") && !page.contains("has found no"))
          }
          try await show(["riskLevel": 0, "exposures": 0], on: "/", "home", in: browser)
          #expect(try await browser.text("h1") == "No risky encounters")
          try await expectRadio(browser)
        }
      }
    }

    @Test(
      "A check that cannot find encounters has its reason on the home page, and the risk is not known",
      .timeLimit(.minutes(Patience.minutes)))
    func nothingKnown() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await scene.settle(browser)
          for (fields, card, words) in Self.reasons {
            let state = JSONValue.object(fields.merging(["riskLevel": .null]) { $1 })
            try await show(state, on: "/", "home", in: browser)
            #expect(try await browser.count("[data-risk=unknown]") == 1, "\(card)")
            #expect(try await browser.text("h1") == "Not known yet", "\(card)")
            let text = try await browser.text("[data-problem=\(card)]")
            #expect(text.contains(words), "\(text)")
          }
        }
      }
    }

    private static let reasons: [([String: JSONValue], card: String, words: String)] = [
      (["lastFailure": "noKeyFiles", "clockWrong": false], "check", "no keys for two weeks"),
      (["lastFailure": "clockWrong", "clockWrong": true], "clock", "cannot find encounters"),
      (["lastFailure": "notConfigured", "clockWrong": false], "check", "could not be verified"),
      (
        [
          "lastFailure": "notConfigured", "clockWrong": false,
          "configurationRefused": "Device configuration rejected: it has expired.",
        ], "configuration", "settings are not valid"
      ),
    ]

    @Test(
      "The result for a PIN that was used before does not say that the keys are not shared yet",
      .timeLimit(.minutes(Patience.minutes)))
    func usedPIN() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await scene.settle(browser)
          for (reason, isUsed) in [("pinUsed", true), ("noInternet", false), ("pinUsed", true)] {
            let result: JSONValue = ["result": 3, "reason": .string(reason)]
            try await show(["lastUpload": result], on: "/", "home", in: browser)
            let title = try await browser.text("[data-problem=upload-result] h2")
            #expect(title == (isUsed ? "Nothing was shared" : "Not shared yet"))
            try await browser.script(
              """
              return import('/app/parts/share-draft.js').then(({ draft }) => {
                draft.result = arguments[0];
                return true;
              });
              """, result)
            try await browser.go("/share/result", to: "share-result")
            #expect(try await browser.text("h1") == title)
            let page = try await browser.text("main")
            #expect(page.contains("can be continued") != isUsed, "\(page)")
            #expect(page.contains("were shared with this PIN before") == isUsed, "\(page)")
            #expect(try await browser.count("[data-action=other-pin]") == (isUsed ? 1 : 0))
          }
        }
      }
    }

    /// The words of the radio in the settings, and its card on the home page.
    private func expectRadio(_ browser: Browser) async throws {
      for (radio, isEnabled, words, problem) in [
        ("none", true, "this device has no Bluetooth", "radio"), ("off", true, "off.", "bluetooth"),
        ("on", true, "on.", nil), ("on", false, "on.", nil), ("off", false, "off.", nil),
      ] as [(String, Bool, String, String?)] {
        let state: JSONValue = [
          "radio": .string(radio), "enabled": .bool(isEnabled),
          "bluetooth": .bool(isEnabled && radio == "on"),
        ]
        try await show(state, on: "/settings", "settings", in: browser)
        let text = try await browser.text("[data-part=bluetooth]")
        #expect(text.contains("Bluetooth: \(words)"), "\(radio), \(isEnabled): \(text)")
        try await show(state, on: "/", "home", in: browser)
        for card in ["radio", "bluetooth"] {
          let count = try await browser.count("[data-problem=\(card)]")
          #expect(count == (problem == card ? 1 : 0), "\(radio), \(isEnabled): \(card)")
        }
        #expect(try await browser.count("[data-problem=off]") == (isEnabled ? 0 : 1))
      }
    }

    @Test(
      "Beside the time of the last check, an empty list never says that there was none",
      .timeLimit(.minutes(Patience.minutes)))
    func checks() async throws {
      let none = "There are no checks yet."
      let scene = try await WebAppScene()
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.go("/history", to: "history")
          #expect(try await browser.text("[data-list=riskChecks]").contains(none))
          #expect(try await browser.count("[data-part=totals]") == 0)
          try await browser.go("/", to: "home")
          // A check without files, and one with a file, whose row is removed.
          for isFirst in [true, false] {
            #expect(try await scene.phone.check().status == .done)
            try await browser.go("/history", to: "history")
            let rows = try await browser.message(90)["riskChecks"].elements
            let ids = JSONValue.array(rows.compactMap { $0["id"] })
            try await browser.message(
              91, ["notifications": [], "exposures": [], "riskChecks": ids])
            try await browser.go("/", to: "home")
            try await browser.go("/history", to: "history")
            try await browser.wait(
              until: "!document.querySelector('[data-list=riskChecks] [data-entry]')")
            let list = try await browser.text("[data-list=riskChecks]")
            #expect(list.contains("when it has compared new keys") && !list.contains(none))
            #expect(!(try await browser.text("[data-part=totals]").contains("not yet")))
            try await browser.go("/", to: "home")
            if isFirst { try await scene.meetInfectedPhone() }
          }
        }
      }
    }

    @Test(
      "An open page whose phone process dies says so by itself, twice",
      .timeLimit(.minutes(Patience.minutes)))
    func died() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await Browser.withRunning { browser in
        for round in 0..<2 {
          try await scene.phone.serving(port: PhoneFixture.ownPort) { phone in
            if round == 0 { try await browser.openFinished(phone) }
            try await browser.wait(until: "!document.querySelector('[data-banner=offline]')")
            // The page follows the phone's pushes when a second state has arrived.
            try await browser.message(1010, ["hidesDetails": .bool(round == 0)])
            try await browser.wait(
              until: "import('/app/store.js').then(m => m.store.state.hidesDetails === a[0])",
              .bool(round == 0))
            phone.process.kill()
            try await browser.wait(until: "document.querySelector('[data-banner=offline]')")
          }
        }
      }
    }
  }
}
