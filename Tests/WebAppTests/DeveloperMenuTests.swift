// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

extension BrowserSuite {
  @Suite("The developer menu of the web app")
  struct DeveloperMenuTests {
    @Test("Each function of the menu takes effect", .timeLimit(.minutes(Patience.minutes)))
    func functions() async throws {
      let scene = try await WebAppScene(daysOfUse: 3, servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, at: "/developer", expecting: "developer")
          // The page waits for the phone no longer than `BridgeLimit` allows; a check may take longer.
          var checked = ""
          try await Patience.until {
            checked = try await browser.develop("detectNow")
            return !["timeout", "The phone did not answer in time: try again."].contains(checked)
          }
          #expect(checked.hasPrefix("Checked"))
          #expect(try await browser.develop("simulateExposure").hasPrefix("Added"))
          #expect(try await scene.phone.facts(.status)["exposures"] as? Int == 1)
          #expect(try await browser.develop("resetExposures").contains("removed"))
          #expect(try await scene.phone.facts(.status)["exposures"] as? Int == 0)
          #expect(try await browser.develop("simulateFailure").hasPrefix("Recorded"))
          #expect(
            try await scene.phone.facts(.status)["lastFailure"] as? String == "noConnection")
          #expect(try await browser.develop("resetCursor").contains("fourteen days"))
          #expect(try await browser.develop("showKeys").contains("transmission risk"))
          #expect(try await browser.develop("showConfiguration").contains("key server"))
          try await browser.act("developer-resetOnboarding", to: "welcome")
          #expect(try await scene.phone.facts(.status)["enabled"] as? Bool == false)
          #expect(try await browser.errorLog() == [])
        }
      }
    }
  }
}

extension Browser {
  /// Presses a button of the menu, and returns the output.
  fileprivate func develop(_ action: String) async throws -> String {
    try await script("document.querySelector('[data-part=output]').textContent = ''")
    try await act("developer-\(action)")
    try await wait(until: "document.querySelector('[data-part=output]').textContent !== ''")
    return try await text("[data-part=output]")
  }
}
