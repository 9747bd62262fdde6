// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

extension ConsoleInBrowser {
  /// The work of epidemiologists and administrators, without scripts.
  @Suite("Administration at the console") struct AdministrationFlowTests {
    @Test(
      "A change is checked, previewed and proposed by one person, and approved by a second",
      .timeLimit(.minutes(Patience.minutes)))
    func configuration() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        let berta = try await visit.console.administration.addAccount(
          name: "Berta", role: .epidemiologist)
        try await visit.signIn(.epidemiologist, name: "Anna", to: "/configuration")
        try await visit.replace("1499", with: "5000")
        try await browser.type("Fewer false alarms", into: "#reason")
        try await visit.follow("#preview")
        #expect(try await visit.message().hasPrefix("The document is not valid: maxLowRiskScore"))
        let kept = try await browser.script("return document.querySelector('#reason').value")
        #expect(kept == "Fewer false alarms")
        try await visit.replace("5000", with: "1200")
        try await visit.follow("#preview")
        try await visit.arrive(at: "Effect of the change")
        let effect = try await browser.text("#effect")
        #expect(effect.contains("1499") && effect.contains("1200"))
        #expect(try await browser.text("#changes").contains("\"maxLowRiskScore\" : 1200"))
        try await visit.follow("#propose")
        #expect(try await browser.text("#notice") == "The proposal waits for another person.")
        #expect(try await browser.count("#approve-1") == 0)
        #expect(visit.console.authority.state.configuration.version == 3)

        try await visit.signOut()
        try await visit.signIn(berta, to: "/configuration")
        #expect(try await browser.text("main section").contains("Proposed by Anna"))
        try await visit.follow("#approve-1")
        #expect(try await browser.text("#notice") == "The configuration is in force.")
        #expect(try await browser.text("#history").contains("approved by Berta"))
        let inForce = visit.console.authority.state.configuration
        #expect(inForce.version == 4 && inForce.riskLevelConfiguration.maxLowRiskScore == 1_200)
      }
    }

    @Test(
      "The funnel and the exports are shown as picture and tables",
      .timeLimit(.minutes(Patience.minutes)))
    func observation() async throws {
      try await ConsoleVisit.run(scripts: false, authority: try .inUse()) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.epidemiologist, name: "Ewa", to: "/funnel")
        #expect(try await browser.count("#funnel tbody tr") == ConsoleLimit.funnelDaysMax)
        #expect(try await browser.text("#funnel").contains("fewer than 10"))
        let bars = try await browser.script(
          """
          return [...document.querySelectorAll('.chart .bar')].every(bar => {
            const box = bar.getBoundingClientRect();
            return box.width >= 8 && box.height > 0;
          })
          """)
        #expect(bars == true)
        try await visit.follow(".menu a[href='/exports']")
        try await visit.arrive(at: "Exports")
        #expect(try await browser.text("main").contains("Next file at 2027-01-15 12:00"))
        #expect(try await browser.text(".files").contains("valid, withdrawn"))
      }
    }

    @Test(
      "Phones are paused and resumed, and a file is withdrawn and restored",
      .timeLimit(.minutes(Patience.minutes)))
    func phones() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let (browser, authority) = (visit.browser, visit.console.authority)
        try await visit.signIn(.administrator, name: "Adam", to: "/phones")
        try await browser.type("2", into: "#hours")
        try await visit.follow("#pause")
        #expect(try await browser.text("#pause-state").hasPrefix("Phones are paused until"))
        #expect(authority.state.pause != nil)
        try await visit.follow("#resume")
        #expect(authority.state.pause == nil)
        try await browser.type("12", into: "#hash")
        try await visit.follow("#withdraw")
        #expect(try await visit.message() == "A SHA-256 has 64 hexadecimal digits.")
        let hash = String(repeating: "0a", count: 32)
        try await browser.type(hash, into: "#hash")
        try await visit.follow("#withdraw")
        #expect(try await browser.text("#withdrawn").contains(hash))
        try await visit.follow("#withdrawn button")
        #expect(try await browser.count("#withdrawn") == 0)
        #expect(authority.state.withdrawn.isEmpty)
      }
    }

    @Test(
      "Keys are rotated, an API key is shown once, and the audit log has every action and is exported",
      .timeLimit(.minutes(Patience.minutes)))
    func keysAndAudit() async throws {
      let folder = try TemporaryFolder()
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let (browser, authority) = (visit.browser, visit.console.authority)
        try await visit.signIn(.administrator, name: "Adam", to: "/keys")
        try await visit.follow("#rotate-keys")
        #expect(authority.state.rotated == [.keys])
        try await browser.type("laboratory", into: "#api-name")
        try await browser.click("[name=kind][value=admin]")
        try await visit.follow("#add-api-key")
        #expect(try await browser.text("#secret") == "k0.the-text-of-the-key")
        try await visit.follow("main a[href='/keys']")
        try await visit.follow("#api-keys button")
        #expect(try await browser.count("#api-keys button") == 0)
        #expect(try await browser.text("#api-keys").contains("revoked"))
        #expect(try await !browser.text("main").contains("the-text-of-the-key"))

        try await visit.follow(".menu a[href='/audit']")
        try await visit.arrive(at: "Audit log")
        #expect(try await browser.text("#verdict") == "All 6 entries are intact.")
        let actions = try await browser.script(
          "return [...document.querySelectorAll('#audit tbody td:nth-child(4)')].map(td => td.innerText)"
        )
        #expect(
          actions == [
            "API key revoked", "API key added", "signing key rotated", "signed in",
            "password and code app set", "account added",
          ])
        try await browser.storeDownloads(in: folder.url)
        try await browser.click("#export")
        let log = try await browser.download(folder.path("audit.jsonl"))
        #expect(log.split(separator: "\n").count == 7 && log.contains("api-key.revoked"))
      }
    }
  }
}

extension ConsoleVisit {
  /// Changes a part of the remote configuration in its field.
  func replace(_ old: String, with new: String) async throws {
    try await browser.script(
      """
      const field = document.querySelector('#document');
      field.value = field.value.replaceAll(arguments[0], arguments[1]);
      """, .string(old), .string(new))
  }
}
