// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("The owner's decisions that cannot be read, in the web app")
  struct UnreadableConsentPageTests {
    @Test(
      "An open page and a new one show the problem, and both show its end",
      .timeLimit(.minutes(Patience.minutes)))
    func pages() async throws {
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      let file = scene.phone.folder.appendingPathComponent("framework/permission")
      let aside = file.appendingPathExtension("aside")
      try await Browser.withRunning { browser in
        try await scene.phone.serving(port: PhoneFixture.ownPort) { phone in
          try await browser.openFinished(phone)
          #expect(try await browser.count("[data-problem=permission]") == 0)
        }
        try FileManager.default.moveItem(at: file, to: aside)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try await scene.phone.serving(port: PhoneFixture.ownPort) { phone in
          // The open page reaches the phone again.
          try await browser.wait(until: "document.querySelector('[data-problem=permission]')")
          try await browser.open(phone, expecting: "home")
          #expect(try await browser.count("[data-problem=permission]") == 1)
          #expect(try await browser.count("[data-problem=off]") == 0)
          try FileManager.default.removeItem(at: file)
          try FileManager.default.moveItem(at: aside, to: file)
          try await browser.act("read-permission")
          try await browser.wait(until: "!document.querySelector('[data-problem=permission]')")
        }
      }
    }
  }
}
