// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import KeyServerAPI
import RiskRules
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
        try await visit.follow("#as-json")
        try await visit.replace("1499", with: "5000")
        try await browser.type("Fewer false alarms", into: "#reason")
        try await visit.follow("#preview")
        #expect(try await visit.message().hasPrefix("The document is not valid: maxLowRiskScore"))
        let kept = try await browser.script("return document.querySelector('#reason').value")
        #expect(kept == "Fewer false alarms")
        try await visit.replace("5000", with: "1200")
        try await visit.follow("#preview")
        try await visit.arrive(at: "Effect of the change")
        let effect = try await browser.text("#effect-1")
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
        #expect(try await browser.text("main").contains("Next file at 2027-01-15 13:00 CET"))
        #expect(try await browser.text(".files").contains("valid, withdrawn"))
      }
    }

    @Test(
      "Phones are paused at once, and a second person resumes them and withdraws a listed file",
      .timeLimit(.minutes(Patience.minutes)))
    func phones() async throws {
      try await ConsoleVisit.run(scripts: false, authority: try .inUse()) { visit async throws in
        let (browser, authority) = (visit.browser, visit.console.authority)
        let berta = try await visit.console.administration.addAccount(
          name: "Berta", role: .administrator)
        try await visit.signIn(.administrator, name: "Adam", to: "/phones")
        try await browser.type("2", into: "#hours")
        try await visit.follow("#pause")
        try await visit.arrive(at: "Effect of the change")
        #expect(authority.state.pause == nil)
        try await browser.type("The files are wrong", into: "#reason")
        try await visit.follow("#now")
        #expect(try await browser.text("#pause-state").hasPrefix("Phones are paused until"))
        #expect(authority.state.pause != nil)
        try await visit.follow("#resume")
        try await visit.request("The files are right again")
        try await visit.open("/exports")
        try await visit.follow(".files tbody button")
        try await visit.request("A laboratory was wrong")
        #expect(try await browser.count("[id^=approve]") == 0)
        try await visit.signOut()

        try await visit.signIn(berta)
        #expect(try await browser.text("#waiting").contains("2"))
        try await visit.follow("#waiting a")
        try await visit.follow("#approve-2")
        #expect(try await browser.text("#notice") == "The change was carried out.")
        #expect(authority.state.pause == nil)
        try await visit.follow("#approve-3")
        #expect(authority.state.withdrawn.count == 2)
        #expect(try await browser.text("#history").contains("approved by Berta"))
        try await visit.open("/phones")
        #expect(try await browser.count("#withdrawn tbody tr") == 2)
      }
    }

    @Test(
      "Two people rotate a key and add an API key, and the audit log has every step and is exported",
      .timeLimit(.minutes(Patience.minutes)))
    func keysAndAudit() async throws {
      let folder = try TemporaryFolder()
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let (browser, authority) = (visit.browser, visit.console.authority)
        let berta = try await visit.console.administration.addAccount(
          name: "Berta", role: .administrator)
        try await visit.signIn(.administrator, name: "Adam", to: "/keys")
        try await visit.follow("#rotate-keys")
        try await visit.request("It is a year old")
        #expect(authority.state.rotated.isEmpty)
        try await visit.open("/keys")
        try await browser.type("laboratory", into: "#api-name")
        try await browser.click("[name=kind][value=admin]")
        try await visit.follow("#add-api-key")
        try await visit.request("A new laboratory")
        try await visit.signOut()
        try await visit.signIn(berta, to: "/changes")
        try await visit.follow("#approve-1")
        #expect(authority.state.rotated == [.keys])
        try await visit.follow("#approve-2")
        #expect(try await browser.text("#secret") == "k0.the-text-of-the-key")
        try await visit.follow("main a[href='/keys']")
        #expect(try await browser.text("#api-keys").contains("laboratory"))
        #expect(try await !browser.text("main").contains("the-text-of-the-key"))
        try await audit(visit, folder)
      }
    }

    @Test(
      "Requests have their times in the zone of the office, also in a browser of another one",
      .timeLimit(.minutes(Patience.minutes)))
    func timeZone() async throws {
      try await ConsoleVisit.run(scripts: true, authority: try .inUse()) { visit async throws in
        let browser = visit.browser
        let berta = try await visit.console.administration.addAccount(
          name: "Berta", role: .administrator)
        try await visit.signIn(.administrator, name: "Adam", to: "/keys")
        try await visit.follow("#rotate-keys")
        try await visit.request("It is a year old")
        try await visit.signOut()
        try await visit.signIn(berta)
        // It is 22:00 there, and 21:00 on the day before.
        for (zone, day) in [("Pacific/Kiritimati", 15), ("Pacific/Pago_Pago", 14)] {
          try await browser.devTools("Emulation.setTimezoneOverride", ["timezoneId": .string(zone)])
          try await visit.open("/changes")
          let seconds = RunningConsole.start.timeIntervalSince1970
          let local = try await browser.script(
            "return new Date(arguments[0] * 1000).getDate()", .number(seconds))
          #expect(local.integer == day)
          #expect(
            try await browser.text("main section").contains("Requested by Adam at 2027-01-15 09:0"))
        }
        try await visit.follow("#approve-1")
        let history = try await browser.text("#history")
        #expect(
          history.contains("Times are in Central European Time (Europe/Warsaw).")
            && history.contains("2027-01-15 09:0"))
        try await browser.devTools("Emulation.setTimezoneOverride", ["timezoneId": ""])
      }
    }

    private func audit(_ visit: ConsoleVisit, _ folder: TemporaryFolder) async throws {
      let browser = visit.browser
      try await visit.follow(".menu a[href='/audit']")
      try await visit.arrive(at: "Audit log")
      #expect(try await browser.text("#verdict") == "All 13 entries are intact.")
      let actions = try await browser.script(
        "return [...document.querySelectorAll('#audit tbody td:nth-child(4)')].map(td => td.innerText)"
      )
      #expect(
        actions == [
          "API key added", "change approved", "signing key rotated", "change approved",
          "signed in", "signed out", "change requested", "change requested", "signed in",
          "password and code app set", "account added", "password and code app set",
          "account added",
        ])
      try await browser.storeDownloads(in: folder.url)
      try await browser.click("#export")
      let log = try await browser.download(folder.path("audit.jsonl"))
      #expect(log.split(separator: "\n").count == 14 && log.contains("api-key.added"))
    }
  }
}

extension ConsoleVisit {
  /// Requests the change whose effect is shown.
  func request(_ reason: String) async throws {
    try await browser.type(reason, into: "#reason")
    try await follow("#request")
    #expect(try await browser.count("#notice") == 1)
  }

  /// Changes a part of the remote configuration in its field.
  func replace(_ old: String, with new: String) async throws {
    try await browser.script(
      """
      const field = document.querySelector('#document');
      field.value = field.value.replaceAll(arguments[0], arguments[1]);
      """, .string(old), .string(new))
  }
}
