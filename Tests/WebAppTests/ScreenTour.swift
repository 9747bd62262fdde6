// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import TextEncodings

/// A screen of the web app in a state that a user can meet.
struct ScreenStop {
  /// The name of the screen and of its state, such as `home-off`.
  let name: String
  /// Brings the screen into the state again after a change of the language.
  var open: (Browser) async throws -> Void = { _ in }
  /// Undoes `open`.
  var close: (Browser) async throws -> Void = { _ in }
}

/// A way through all screens of the web app, with a real phone and real servers.
///
/// The page is loaded once. Between two stops only the address after `#` changes, or the state of the phone.
struct ScreenTour {
  let browser: Browser
  let scene: WebAppScene
  /// Called at each stop.
  let visit: (ScreenStop) async throws -> Void

  /// - Parameter phone: A new phone with the pages, started for developers, with finished keys.
  func play(on phone: WebPhone) async throws {
    try await browser.open(phone.address)
    try await browser.wait(until: "document.querySelector('main[data-screen]')")
    for (path, screen) in [
      ("/welcome", "welcome"), ("/how", "how"), ("/consent", "consent"),
      ("/second-chance", "second-chance"), ("/ready", "ready"),
    ] {
      try await stop(screen, path, screen)
    }
    try await browser.message(1004, ["step": "consent"])
    try await browser.message(1004, ["step": "finish"])
    try await browser.open(phone.address)
    try await newPhone()
    try await pages()
    try await exposed()
    try await sharing()
    try await interrupted()
    try await turnedOff()
  }

  private func stop(_ name: String, _ path: String, _ screen: String) async throws {
    try await browser.go(path, to: screen)
    try await visit(ScreenStop(name: name))
  }

  private func newPhone() async throws {
    try await stop("home-new", "/", "home")
    try await stop("history-empty", "/history", "history")
    try await stop("why-empty", "/why", "why")
  }

  private func pages() async throws {
    try await browser.offerInstallation()
    for screen in ["more", "privacy", "glossary", "support", "about", "developer"] {
      try await stop(screen, "/\(screen)", screen)
    }
    try await stop("missing", "/no-such-page", "missing")
  }

  /// With an exposure, real checks and notices.
  private func exposed() async throws {
    _ = try await scene.phone.check()
    try await stop("home-no-risk", "/", "home")
    try await scene.meetInfectedPhone()
    _ = try await scene.phone.check()
    try await browser.wait(until: "Number(document.querySelector('[data-risk]').dataset.risk) > 0")
    for (name, path, screen) in [
      ("home-exposed", "/", "home"), ("why", "/why", "why"), ("advice", "/advice", "advice"),
      ("history", "/history", "history"), ("traffic", "/traffic", "traffic"),
      ("settings", "/settings", "settings"), ("delete", "/delete", "delete"),
    ] {
      try await stop(name, path, screen)
    }
    try await browser.message(1010, ["hidesDetails": true])
    try await stop("why-hidden", "/why", "why")
    try await browser.message(1010, ["hidesDetails": false])
  }

  private func sharing() async throws {
    try await stop("share", "/share", "share")
    try await visit(
      ScreenStop(name: "share-no-pin") { browser in
        try await browser.act("continue")
        try await browser.wait(until: "document.querySelector('[aria-invalid=true]')")
      })
    try await browser.type(WebAppScene.wrongPIN, into: "#pin")
    try await browser.act("continue", to: "share-date")
    try await browser.act("date-symptoms")
    try await stop("share-date", "/share/date", "share-date")
    try await stop("share-consent", "/share/consent", "share-consent")
    try await browser.act("agree", to: "share-review")
    try await visit(ScreenStop(name: "share-review"))
    try await browser.act("send", to: "share-result")
    try await visit(ScreenStop(name: "share-result-wrong-pin"))
    try await stop("share-refused", "/share/refused", "share-refused")
  }

  /// An upload that the network interrupts, and one that succeeds.
  private func interrupted() async throws {
    scene.network.set(.silent)
    try await browser.enter(try await scene.authority.pin(), date: "none")
    try await browser.act("agree", to: "share-review")
    try await browser.act("send", to: "share-progress")
    try await browser.wait(until: "document.querySelector('[data-stage=sending]')")
    try await visit(ScreenStop(name: "share-progress"))
    scene.network.set(.closing)
    try await browser.waitForScreen("share-result")
    try await visit(ScreenStop(name: "share-result-no-network"))
    try await stop("share-unfinished", "/share/unfinished", "share-unfinished")
    try await stop("home-unfinished", "/", "home")
    scene.network.set(.none)
    try await browser.act("unfinished", to: "share-unfinished")
    // On a busy machine a response may take longer than the phone waits. Then the upload stays unfinished.
    try await Patience.until {
      try await browser.go("/share/unfinished", to: "share-unfinished")
      try await browser.act("continue-upload", to: "share-result")
      let result = try await browser.script(
        "return document.querySelector('[data-result]').dataset.result")
      return result == "1"
    }
    try await visit(ScreenStop(name: "share-result-done"))
  }

  private func turnedOff() async throws {
    try await browser.go("/delete", to: "delete")
    try await visit(
      ScreenStop(
        name: "delete-dialog",
        open: { browser in
          try await browser.act("delete-everything")
          try await browser.wait(until: "document.querySelector('[data-dialog]')")
        },
        close: { browser in
          try await browser.click("[data-dialog] [data-action=cancel]")
          try await browser.wait(until: "!document.querySelector('[data-dialog]')")
        }))
    try await browser.message(52, ["enableExposureNotificationService": false])
    try await browser.go("/", to: "home")
    try await browser.wait(until: "document.querySelector('[data-problem=off]')")
    try await stop("home-off", "/", "home")
    try await stop("share-off", "/share", "share")
  }
}
