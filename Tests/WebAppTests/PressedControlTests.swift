// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  /// The screen is drawn again when the state of the phone changes.
  @Suite("Changes while a button of the mouse is pressed")
  struct PressedControlTests {
    private static let link = "main [data-action=advice]"

    @Test(
      "A link that was pressed before a change is followed",
      .timeLimit(.minutes(Patience.minutes)))
    func link() async throws {
      try await withHome { browser in
        try await browser.send(.pressed, button: "left", to: Self.link)
        try await browser.mark()
        try await browser.changeState()
        #expect(try await browser.isDrawnAgain() == false)
        try await browser.send(.released, button: "left", to: Self.link)
        try await browser.waitForScreen("advice")
        #expect(try await browser.script("return document.activeElement.tagName").string == "H1")
      }
    }

    @Test(
      "After a press that is released elsewhere, and during a press of the right button, the screen is drawn again",
      .timeLimit(.minutes(Patience.minutes)))
    func drawn() async throws {
      try await withHome { browser in
        try await browser.send(.pressed, button: "left", to: Self.link)
        try await browser.mark()
        try await browser.changeState()
        #expect(try await browser.isDrawnAgain() == false)
        try await browser.send(.released, button: "left", to: "main h1")
        try await browser.wait(until: "!document.querySelector('main [data-marked]')")
        try await browser.mark()
        try await browser.send(.pressed, button: "right", to: Self.link)
        try await browser.changeState()
        try await browser.wait(until: "!document.querySelector('main [data-marked]')")
        #expect(try await browser.errorLog() == [])
      }
    }

    private func withHome(
      _ body: nonisolated(nonsending) (Browser) async throws -> Void
    ) async throws {
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "home")
          // The first check changes the screen, and may move what is clicked.
          try await browser.act("check-now")
          try await browser.wait(
            until: "import('/app/store.js').then(m => m.store.state)"
              + ".then(state => state.lastCheck && !state.checking)")
          try await browser.waitForScreen("home")
          try await body(browser)
        }
      }
    }
  }
}

extension Browser {
  /// Marks an element of the screen, so that `isDrawnAgain` can tell.
  fileprivate func mark() async throws {
    try await script("document.querySelector('main h1').dataset.marked = ''")
  }

  fileprivate func isDrawnAgain() async throws -> Bool {
    try await count("main [data-marked]") == 0
  }

  /// Changes the state of the phone, and waits until the page has received it.
  fileprivate func changeState() async throws {
    let isHiding = try await message(1_000)["hidesDetails"] == true
    try await message(1_010, ["hidesDetails": .bool(!isHiding)])
    try await wait(
      until: "import('/app/store.js').then(m => m.store.state.hidesDetails === a[0])",
      .bool(!isHiding))
  }
}
