// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Exposures in the web app")
  struct ExposureFlowTests {
    @Test(
      "A found exposure appears without a reload, is explained, and can be hidden and removed",
      .timeLimit(.minutes(Patience.minutes)))
    func exposure() async throws {
      let scene = try await WebAppScene()
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          try await browser.finishOnboarding()
          try await arrive(scene, browser)
          try await explain(browser)
          try await removeRow(browser)
          #expect(try await browser.errorLog() == [])
        }
      }
      // What was removed stays removed after a restart, and the other rows are still there.
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, at: "/history", expecting: "history")
          #expect(try await browser.count("[data-list=notifications] [data-entry]") == 0)
          #expect(try await browser.count("[data-list=exposures] [data-entry]") == 0)
          #expect(try await browser.count("[data-list=riskChecks] [data-entry]") > 0)
        }
      }
    }

    /// A check before any file sets the position of a new phone; the next one finds the exposure.
    private func arrive(_ scene: WebAppScene, _ browser: Browser) async throws {
      try await browser.act("check-now")
      try await browser.wait(until: "document.querySelector('[data-risk=\"0\"]')")
      try await scene.meetInfectedPhone()
      try await browser.script("window.isSamePage = true")
      let check = try await scene.phone.check()
      #expect(check.status == .done, "\(check.text)")
      try await browser.wait(
        until: "(e => e && Number(e.dataset.risk) > 0)(document.querySelector('[data-risk]'))")
      #expect(try await browser.script("return window.isSamePage") == true)
      let status = try await scene.phone.facts(.status)
      let shown = try await browser.script(
        "return document.querySelector('[data-risk]').dataset.risk")
      #expect(shown.string == "\(status["riskLevel"] ?? "none")")
      #expect(status["notices"] as? Int == 1)
    }

    private func explain(_ browser: Browser) async throws {
      try await browser.act("why", to: "why")
      #expect(try await browser.count("[data-exposure]") == 1)
      #expect(try await browser.count("[data-exposure] table tbody tr") > 0)
      try await browser.act("toggle-details")
      try await browser.wait(until: "!document.querySelector('[data-exposure] table')")
      #expect(try await browser.message(1000)["hidesDetails"] == true)
    }

    private func removeRow(_ browser: Browser) async throws {
      try await browser.go("/history", to: "history")
      #expect(try await browser.count("[data-list=notifications] [data-entry]") == 1)
      try await browser.click("[data-list=notifications] [data-action=remove]")
      try await browser.confirm()
      try await browser.wait(
        until: "!document.querySelector('[data-list=notifications] [data-entry]')")
      let rows = try await browser.message(90)
      #expect(rows["notifications"].elements.isEmpty && rows["exposures"].elements.count == 1)
      #expect(try await browser.message(61)["riskLevel"].integer ?? 0 > 0)
      // What the dialog says about an encounter must be true.
      try await browser.click("[data-list=exposures] [data-action=remove]")
      try await browser.confirm()
      try await browser.wait(until: "!document.querySelector('[data-list=exposures] [data-entry]')")
      #expect(try await browser.message(1001)["exposures"].elements.isEmpty)
      #expect(try await browser.message(61)["riskLevel"] == 0)
      #expect(try await browser.count("[data-list=riskChecks] [data-entry]") > 0)
    }

    @Test(
      "Damaged storage is shown whatever the onboarding, and can be set aside",
      .timeLimit(.minutes(Patience.minutes)))
    func damage() async throws {
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      let store = scene.phone.folder.appendingPathComponent("app/Store")
      let sealed = try FileManager.default.contentsOfDirectory(
        at: store, includingPropertiesForKeys: nil
      ).filter { $0.pathExtension == "sealed" }
      #expect(!sealed.isEmpty)
      for file in sealed { try Data((0..<200).map { UInt8($0) }).write(to: file) }
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "home")
          try await browser.wait(until: "document.querySelector('[data-problem=storage]')")
          try await browser.act("start-over")
          try await browser.confirm()
          try await browser.wait(until: "!document.querySelector('[data-problem=storage]')")
          #expect(try await browser.message(1000)["storage"] == "ready")
          #expect(try await browser.errorLog() == [])
        }
      }
    }

    @Test(
      "Deleting everything leaves nothing on the disk, and the app starts from the beginning",
      .timeLimit(.minutes(Patience.minutes)))
    func deletion() async throws {
      let scene = try await WebAppScene()
      let before = try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          try await browser.finishOnboarding()
          try await browser.act("check-now")
          try await browser.wait(until: "document.querySelector('[data-risk=\"0\"]')")
          try await scene.meetInfectedPhone()
          _ = try await scene.phone.check()
          let before = content(of: scene.phone.folder)
          try await browser.go("/delete", to: "delete")
          try await browser.act("delete-everything")
          try await browser.confirm()
          try await browser.waitForScreen("welcome")
          return before
        }
      }
      // Every file that held data about the owner is gone or has a new content.
      let after = content(of: scene.phone.folder)
      let kept = before.filter { path, data in data.count > 1 && after[path] == data }
      #expect(before.count > 3)
      #expect(Self.impersonal.isSuperset(of: kept.keys), "\(kept.keys) of \(before.keys)")
      let data = try await scene.phone.json("export-my-data")
      #expect((data["received"] as? [Any])?.isEmpty == true)
      let status = try await scene.phone.json("status")
      #expect(status["exposures"] as? Int == 0 && status["enabled"] as? Bool == false)
      #expect(status["lastCheck"] is NSNull && status["notices"] as? Int == 0)
    }

    /// The highest time so far, the number of detections of the day, and the check of the sealing key.
    private static let impersonal: Set = ["clock", "detections", "key"]

    private func content(of folder: URL) -> [String: Data] {
      let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      let files = (all?.compactMap { $0 as? URL } ?? []).compactMap { file in
        (try? Data(contentsOf: file)).map { (file.lastPathComponent, $0) }
      }
      return Dictionary(files) { $1 }
    }
  }
}
