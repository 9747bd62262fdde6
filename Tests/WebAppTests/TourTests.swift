// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// The town page of `firebreak up`, with real servers and phones.
  @Suite("The tour of the town") struct TourTests {
    @Test(
      "The town page leads from a meeting to the notice of the phone that was near, and of no other",
      .timeLimit(.minutes(Patience.minutes)))
    func tour() async throws {
      try await RunningTown.with(phones: 3) { town in
        try await Browser.withRunning { browser in
          try await browser.openTown(town)
          try await browser.click("[data-action=tour-start]")
          try await browser.tourAction(to: "wait")
          // Faster than the tour proposes.
          try await browser.click("[data-action=rate-600]")
          try await browser.waitForStep("tomorrow")
          try await browser.tourAction(to: "diagnose")
          try await browser.tourAction(to: "share")
          let pin = try await browser.issuePIN(in: town)
          #expect(pin.count == 6)
          try await browser.share(pin, on: try #require(town.phones["ada"]))
          try await browser.openTown(town)
          try await browser.waitForStep("publish")
          // The feed shows the newest messages only, and every check adds some.
          for kind in ["code", "upload"] { try await browser.waitForMessage(kind) }
          // The last steps may also end by themselves, because Ben's phone checks on its own schedule: the button
          // may be gone before it is clicked. The key server may still be writing the file.
          try await Patience.until {
            try await browser.clickIfPresent("[data-action=tour-action]")
            try await Task.sleep(for: .seconds(1))
            return try await browser.step() == "done"
          }
          #expect(try await browser.count("[data-tour=done]") == 1)
          // The phone stores the risk first and then shows the notice.
          try await browser.wait(until: "document.querySelector('[data-notice=ben]')")
          #expect(try await browser.count("[data-notice=ada]") == 0)
          #expect(try await browser.count("[data-notice=cleo]") == 0)
          for kind in ["beacon", "keyFile"] { try await browser.waitForMessage(kind) }
          #expect(try await browser.text("#feed").contains(pin) == false)
        }
      }
    }

    @Test(
      "The town page is accessible in both languages, colors and widths; people move by key, pointer and list",
      .timeLimit(.minutes(Patience.minutes)))
    func accessible() async throws {
      try await RunningTown.with(phones: 2) { town in
        try await Browser.withRunning { browser in
          try await browser.openTown(town)
          // The page changes every second while time passes.
          try await browser.click("[data-action=rate-0]")
          for language in ["en", "pl"] {
            try await browser.choose(language, in: "#language")
            try await browser.wait(
              until: "document.documentElement.lang === a[0]", .string(language))
            for colors in [EmulatedDisplay.Colors.light, .dark] {
              for width in [360, 1280] {
                try await browser.emulate(EmulatedDisplay(colors: colors, width: width))
                // The rules that do not depend on colors have passed in the light ones.
                let violations = try await browser.accessibilityViolations(
                  onlyColors: colors == .dark)
                #expect(violations.isEmpty, "\(language) \(colors) \(width): \(violations)")
              }
            }
          }
          let x = "Number(document.querySelector('[data-person=ada]').dataset.x)"
          let before = try await browser.script("return \(x)")
          try await browser.script("document.querySelector('[data-person=ada]').focus()")
          try await browser.press(.arrowRight)
          try await browser.wait(until: "\(x) === a[0] + 1", before)
          try await browser.drag("[data-person=ada] .dot", by: 40)
          try await browser.wait(until: "\(x) > a[0] + 2", before)
          try await browser.choose("ada", in: "[data-key=join-ben]")
          try await browser.wait(
            until:
              "Math.abs(\(x) - Number(document.querySelector('[data-person=ben]').dataset.x)) === 1"
          )
          #expect(try await browser.errorLog().isEmpty)
        }
      }
    }
  }
}

/// `firebreak up` in a process of its own.
struct RunningTown: Sendable {
  /// The address of the page, with its secret.
  let page: String
  let console: String
  /// The account of the console that the first start made.
  let account: [String: String]
  /// The addresses of the phones by name.
  let phones: [String: String]

  /// The one-time code of the account, as the command shows it.
  func oneTimeCode() async throws -> String {
    let command = #"printf '%s\n' "$1" | "$2" console one-time-code"#
    let secret = account["codeSecret"] ?? ""
    let result = try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/sh"), ["-c", command, "sh", secret, try Run.product().path])
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a town while `body` runs. Its clock starts at 2026-03-02 09:00 UTC.
  static func with<Value: Sendable>(
    phones count: Int, _ body: nonisolated(nonsending) (RunningTown) async throws -> Value
  ) async throws -> Value {
    let folder = try TemporaryFolder()
    let arguments = [
      "up", "--data", folder.path("town").path, "--port", "0", "--phones", "\(count)", "--json",
      "--starting-at", "1772442000",
    ]
    return try await ChildProcess.withRunning(try Run.product(), arguments) { process in
      let line = try await process.firstLine() ?? ""
      let errors = try process.errors
      let ready = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let phones = ready?["phones"] as? [[String: String]] ?? []
      let page = try #require(ready?["town"] as? String, "\(errors)")
      return try await body(
        RunningTown(
          page: page, console: ready?["console"] as? String ?? "",
          account: ready?["account"] as? [String: String] ?? [:],
          phones: Dictionary(
            phones.map { ($0["name"] ?? "", $0["web"] ?? "") }, uniquingKeysWith: { $1 })))
    }
  }
}

extension Browser {
  fileprivate func openTown(_ town: RunningTown) async throws {
    try await open(town.page)
    try await wait(until: "!document.getElementById('main').hasAttribute('aria-busy')")
  }

  fileprivate func step() async throws -> String? {
    try await script("return document.getElementById('tour').dataset.step ?? null").string
  }

  fileprivate func waitForStep(_ name: String) async throws {
    try await wait(until: "document.getElementById('tour').dataset.step === a[0]", .string(name))
  }

  /// Performs the action of a step and waits for the next one.
  fileprivate func tourAction(to next: String) async throws {
    try await click("[data-action=tour-action]")
    try await waitForStep(next)
  }

  /// Waits until the feed shows a message of this kind.
  fileprivate func waitForMessage(_ kind: String) async throws {
    try await wait(until: "document.querySelector(`#feed [data-kind=${a[0]}]`)", .string(kind))
  }

  /// Drags an element to the right by some pixels.
  fileprivate func drag(_ selector: String, by pixels: Double) async throws {
    let place = try await script(
      """
      const node = document.querySelector(arguments[0]);
      node.scrollIntoView({ block: 'center' });
      const box = node.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      """, .string(selector))
    guard case .number(let x) = place["x"], case .number(let y) = place["y"] else { return }
    for (type, distance) in [
      ("mousePressed", 0.0), ("mouseMoved", pixels / 2), ("mouseMoved", pixels),
      ("mouseReleased", pixels),
    ] {
      try await devTools(
        "Input.dispatchMouseEvent",
        [
          "type": .string(type), "x": .number(x + distance), "y": .number(y), "button": "left",
          "buttons": .number(type == "mouseReleased" ? 0 : 1), "clickCount": 1,
        ])
    }
  }

  /// Signs in to the console as the first administrator, and issues a PIN to a person who is present.
  fileprivate func issuePIN(in town: RunningTown) async throws -> String {
    // On a busy machine a one-time code may be too old when it arrives.
    for _ in 0..<4 where try await count("#issue") == 0 {
      try await open("\(town.console)/codes/new")
      try await type(town.account["name"] ?? "", into: "#name")
      try await type(town.account["password"] ?? "", into: "#password")
      try await type(try await town.oneTimeCode(), into: "#code")
      try await click("#sign-in")
      try await wait(until: "document.querySelector('#issue, #fault') !== null")
    }
    try await click("#issue")
    return try await text("#issued-code").filter { !$0.isWhitespace }
  }

  /// Shares the keys of a phone in its web app.
  fileprivate func share(_ pin: String, on address: String) async throws {
    try await open(address)
    try await waitForScreen("home")
    try await enter(pin, date: "none")
    try await act("agree", to: "share-review")
    try await act("send", to: "share-result")
    #expect(try await count("[data-result=\"1\"]") == 1)
  }
}
