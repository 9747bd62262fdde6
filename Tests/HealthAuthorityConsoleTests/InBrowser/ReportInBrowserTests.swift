// SPDX-License-Identifier: Apache-2.0
import Browser
import Crypto
import Foundation
import Logging
import TestSupport
import Testing
import UploadToken
import World

@testable import HealthAuthorityConsole
@testable import VerificationServer

extension ConsoleInBrowser {
  /// The page of the verification server on which people report their own test.
  @Suite("Page for user reports in a browser") struct ReportInBrowserTests {
    private static let displays = [
      EmulatedDisplay(width: 360), EmulatedDisplay(colors: .dark, width: 360), EmulatedDisplay(),
    ]
    /// The pages of the form, in each language.
    private static let pages = ["form", "fault", "sent"]

    /// In `make test`, each page in one display per language; in `make prove`, in all.
    @Test(
      "In each language the form passes axe and our checks, and sends a text",
      .timeLimit(.minutes(Patience.minutes)))
    func report() async throws {
      let folder = try TemporaryFolder()
      let spool = folder.path("texts")
      try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
      try await withServer(in: folder, spool) { port async throws in
        let browser = try #require(SharedBrowser.current)
        try await browser.open("about:blank")
        try await browser.setScripts(areAllowed: true)
        for (number, language) in ReportLanguage.allCases.enumerated() {
          try await browser.emulate(EmulatedDisplay())
          try await browser.open("http://127.0.0.1:\(port)/report?lang=\(language.rawValue)")
          try await check("form", language, number, browser)
          try await browser.type("12345678", into: "#phone")
          try await browser.type("01142027", into: "#day")
          try await browser.click("#consent")
          try await follow("#send", browser)
          #expect(try await browser.text("#phone-fault") == language[.badPhone])
          try await check("fault", language, number, browser)
          try await browser.script("document.querySelector('#phone').value = ''")
          try await browser.type("+4812345678\(number)", into: "#phone")
          try await follow("#send", browser)
          #expect(try await browser.text("#sent") == language[.sent])
          try await check("sent", language, number, browser)
        }
        let texts = try FileManager.default.contentsOfDirectory(atPath: spool.path)
        #expect(texts.count == ReportLanguage.allCases.count)
      }
    }

    /// Checks a page in the displays of the run. The pages of a language have different ones, by its `number` from 0.
    private func check(
      _ page: String, _ language: ReportLanguage, _ number: Int, _ browser: Browser
    ) async throws {
      let place = try #require(Self.pages.firstIndex(of: page))
      let sample = [Self.displays[(place + number) % Self.displays.count]]
      let displays = Proof.isRunning ? Self.displays : sample
      for violation in try await DisplayChecks().violations(of: browser, in: displays) {
        Issue.record("\(page), \(language.rawValue), \(violation)")
      }
      guard Browser.pictureFolder != nil else { return }
      let name = "report-\(page)-\(language.rawValue)"
      let narrow = EmulatedDisplay(width: 360, height: 740)
      try Browser.store(try await browser.picture(in: narrow), as: "\(name)-360")
      try Browser.store(try await browser.picture(in: EmulatedDisplay()), as: "\(name)-desktop")
      // The documentation shows a part of the form.
      let window = EmulatedDisplay(width: 780, height: 640)
      try Browser.store(try await browser.picture(in: window), as: "\(name)-window")
    }

    private func follow(_ selector: String, _ browser: Browser) async throws {
      try await browser.script("document.documentElement.dataset.left = ''")
      try await browser.click(selector)
      try await browser.wait(
        until: "!('left' in document.documentElement.dataset) && document.readyState === 'complete'"
      )
    }

    private func withServer(
      in folder: TemporaryFolder, _ spool: URL, _ test: (_ port: Int) async throws -> Void
    ) async throws {
      var configuration = VerificationServerConfiguration(
        databaseFile: folder.path("verification.sqlite"), apiTokens: ["an-operators-token"],
        codeHashKey: [UInt8](repeating: 7, count: 32),
        signing: try UploadTokenIssuer(
          keyID: "v1", privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
          issuer: "verification", audience: "keys"))
      configuration.policy.allowsUserReport = true
      configuration.policy.offersReportPage = true
      configuration.sms = SMSConfiguration(sender: SMSSpool(folder: spool), region: "PL")
      let server = try VerificationServer(
        configuration: configuration, clock: ManualClock(RunningConsole.start),
        randomness: SystemRandomness(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      let run = Task { try await server.run() }
      defer { run.cancel() }
      try await test(await server.boundPort)
      run.cancel()
      _ = await run.result
    }
  }
}
